"""What can be installed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable, Mapping

from .constraint import Constraint
from .version import Version


@dataclass(frozen=True)
class Package:
    name: str
    version: Version
    requires: Mapping[str, Constraint] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Index:
    def __init__(self, packages: Iterable[Package] = ()) -> None:
        self._packages: dict[str, list[Package]] = {}
        for package in packages:
            self._packages.setdefault(package.name, []).append(package)

    @classmethod
    def from_dict(cls, data: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Index:
        """From ``{name: {version: {required name: constraint}}}``."""
        return cls(
            Package(
                name,
                Version.parse(version),
                {required: Constraint(text) for required, text in requires.items()},
            )
            for name, versions in data.items()
            for version, requires in versions.items()
        )

    def candidates(self, name: str) -> list[Package]:
        """All versions of a package, the newest first."""
        found = self._packages.get(name, [])
        return sorted(found, key=lambda package: package.version, reverse=True)
