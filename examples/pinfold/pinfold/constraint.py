"""Constraints on versions, such as ``>=1.2, <2``, ``^1.2.3``, ``~1.2`` or ``*``."""

from __future__ import annotations

import operator
import re
from typing import Callable

from .version import Version

_TERM = re.compile(r"^(\^|~|>=|<=|==|!=|>|<)?\s*(.+)$")

_COMPARISONS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


class Constraint:
    """
    All terms must hold. Pre-releases are allowed only if a term names a pre-release of the same
    release, so that ``>=2.0.0-rc.1`` allows ``2.0.0-rc.2`` but not ``2.1.0-beta``.
    """

    def __init__(self, text: str = "*") -> None:
        self.text = text.strip() or "*"
        self._checks: list[Callable[[Version], bool]] = []
        self._named: list[Version] = []
        for term in self.text.split(","):
            self._add(term.strip())

    def _add(self, term: str) -> None:
        if term == "*":
            return
        match = _TERM.match(term)
        if match is None:
            raise ValueError(f"not a constraint: {self.text!r}")
        sign = match[1] or "=="
        base = Version.parse(match[2])
        self._named.append(base)
        if sign == "^":
            self._between(base, _caret_limit(base))
        elif sign == "~":
            self._between(base, Version(base.major, base.minor + 1))
        else:
            compare = _COMPARISONS[sign]
            self._checks.append(lambda version: compare(version, base))

    def _between(self, low: Version, limit: Version) -> None:
        self._checks.append(lambda version: low <= version and version.release < limit.release)

    def allows(self, version: Version) -> bool:
        if version.is_prerelease and not self._names_prerelease_of(version):
            return False
        return all(check(version) for check in self._checks)

    def _names_prerelease_of(self, version: Version) -> bool:
        return any(
            named.is_prerelease or named.release == version.release for named in self._named
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraint) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Constraint({self.text!r})"


def _caret_limit(base: Version) -> Version:
    """The first version that may break what works with ``base``."""
    if base.major > 0:
        return Version(base.major + 1)
    if base.minor >= 0:
        return Version(0, base.minor + 1)
    return Version(0, 0, base.patch + 1)
