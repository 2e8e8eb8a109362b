"""The order in which packages are installed: what is required comes first."""

from __future__ import annotations

from typing import Mapping

from .index import Package


class CycleError(Exception):
    def __init__(self, path: list[str]) -> None:
        super().__init__("packages require each other: " + " -> ".join(path))
        self.path = path


def install_order(packages: Mapping[str, Package]) -> list[Package]:
    """Every package after those that it requires; otherwise by name."""
    order: list[Package] = []
    done: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        if name in path:
            raise CycleError(path[path.index(name) :] + [name])
        path.append(name)
        for required in sorted(packages[name].requires):
            visit(required)
        path.pop()
        done.add(name)
        order.append(packages[name])

    for name in sorted(packages):
        visit(name)
    return order
