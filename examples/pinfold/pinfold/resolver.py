"""
Backtracking resolution: takes the newest version of a package that fits all constraints so far, and
goes back to an older one when its requirements cannot be met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from .constraint import Constraint
from .index import Index, Package
from .version import Version


@dataclass(frozen=True)
class Demand:
    """A constraint and who asked for it."""

    name: str
    constraint: Constraint
    origin: str

    def __str__(self) -> str:
        return f"{self.origin} requires {self.name} {self.constraint.text}"


class ResolutionError(Exception):
    def __init__(self, message: str, demands: list[Demand]) -> None:
        super().__init__("\n  ".join([message, *map(str, demands)]))
        self.demands = demands


def resolve(
    index: Index,
    requirements: Mapping[str, str],
    *,
    preferred: Mapping[str, Version] | None = None,
) -> dict[str, Package]:
    """
    Packages by name that meet all requirements, direct and indirect ones. ``preferred`` (from a lock
    file) are tried first where they fit.
    """
    demands = [Demand(name, Constraint(text), "the project") for name, text in requirements.items()]
    return _Search(index, preferred or {}).run(demands, {})


class _Search:
    def __init__(self, index: Index, preferred: Mapping[str, Version]) -> None:
        self._index = index
        self._preferred = preferred

    def run(self, demands: list[Demand], chosen: dict[str, Package]) -> dict[str, Package]:
        name = self._next_open(demands, chosen)
        if name is None:
            return chosen

        failure: ResolutionError | None = None
        for candidate in self._candidates(name, demands):
            more = demands + [
                Demand(required, constraint, str(candidate))
                for required, constraint in candidate.requires.items()
            ]
            chosen[name] = candidate
            conflict = self._conflict(more, chosen)
            if conflict is not None:
                failure = failure or conflict
                continue
            try:
                return self.run(more, chosen)
            except ResolutionError as error:
                failure = failure or error
        raise failure or self._nothing_fits(name, demands)

    def _next_open(self, demands: list[Demand], chosen: dict[str, Package]) -> str | None:
        return next((demand.name for demand in demands if demand.name not in chosen), None)

    def _candidates(self, name: str, demands: list[Demand]) -> list[Package]:
        constraints = [demand.constraint for demand in demands if demand.name == name]
        fitting = [
            package
            for package in self._index.candidates(name)
            if all(constraint.allows(package.version) for constraint in constraints)
        ]
        preferred = self._preferred.get(name)
        return sorted(fitting, key=lambda package: package.version == preferred)

    def _conflict(
        self, demands: list[Demand], chosen: dict[str, Package]
    ) -> ResolutionError | None:
        for demand in demands:
            package = chosen.get(demand.name)
            if package is not None and not demand.constraint.allows(package.version):
                about = [other for other in demands if other.name == demand.name]
                return ResolutionError(f"no version of {demand.name} fits", about)
        return None

    def _nothing_fits(self, name: str, demands: list[Demand]) -> ResolutionError:
        about = [demand for demand in demands if demand.name == name]
        if not self._index.candidates(name):
            return ResolutionError(f"no such package: {name}", about)
        return ResolutionError(f"no version of {name} fits", about)
