"""Lock files: one ``name==version`` a line, sorted, under a header with a fingerprint."""

from __future__ import annotations

import hashlib
from typing import Mapping

from .index import Package
from .version import Version

_HEADER = "# pinfold lock file, requirements "


class LockError(ValueError):
    pass


def fingerprint(requirements: Mapping[str, str]) -> str:
    """Changes when a requirement does; their order does not matter."""
    lines = sorted(f"{name} {constraint.strip()}" for name, constraint in requirements.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def dump(packages: Mapping[str, Package], requirements: Mapping[str, str]) -> str:
    lines = [f"{name}=={packages[name].version}" for name in sorted(packages)]
    return "\n".join([_HEADER + fingerprint(requirements), *lines]) + "\n"


def load(text: str, requirements: Mapping[str, str]) -> dict[str, Version]:
    """Locked versions by name. Raises LockError if the lock file is for other requirements."""
    header, *lines = text.splitlines() or [""]
    if not header.startswith(_HEADER):
        raise LockError("not a lock file")
    if header[len(_HEADER) :].strip() != fingerprint(requirements):
        raise LockError("the lock file is out of date")
    versions: dict[str, Version] = {}
    for number, line in enumerate(lines, start=2):
        if not line.strip() or line.startswith("#"):
            continue
        name, separator, version = line.partition("==")
        if not separator:
            raise LockError(f"line {number}: expected name==version")
        versions[name.strip()] = Version.parse(version)
    return versions
