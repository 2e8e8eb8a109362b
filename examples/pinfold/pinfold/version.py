"""Semantic versions: https://semver.org, without build metadata."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

_PATTERN = re.compile(r"^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?$")


@total_ordering
@dataclass(frozen=True)
class Version:
    major: int
    minor: int = 0
    patch: int = 0
    pre: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Version:
        match = _PATTERN.match(text.strip())
        if match is None:
            raise ValueError(f"not a version: {text!r}")
        major, minor, patch, pre = match.groups()
        return cls(
            int(major),
            int(minor or 0),
            int(patch or 0),
            tuple(pre.split(".")) if pre else (),
        )

    @property
    def release(self) -> tuple[int, int, int]:
        return (self.major, self.minor, self.patch)

    @property
    def is_prerelease(self) -> bool:
        return bool(self.pre)

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple:
        # A release comes after its pre-releases.
        return (*self.release, not self.is_prerelease, self.pre)

    def __str__(self) -> str:
        text = ".".join(map(str, self.release))
        return f"{text}-{'.'.join(self.pre)}" if self.pre else text
