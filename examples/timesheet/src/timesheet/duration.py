"""Durations are whole minutes."""

from __future__ import annotations

import re

_PATTERN = re.compile(
    r"^(?:(?P<hours>\d+)\s*h)?\s*(?:(?P<minutes>\d+)\s*m(?:in)?)?$",
    re.IGNORECASE,
)


def parse_duration(text: str) -> int:
    """Minutes in ``1h 30m``, ``45min``, ``2h`` or ``1.5h``."""
    match = _PATTERN.match(text.strip())
    if match is None or not any(match.groups()):
        raise ValueError(f"not a duration: {text!r}")
    hours = int(match["hours"] or 0)
    minutes = int(match["minutes"] or 0)
    return hours * 60 + minutes


def format_duration(minutes: int) -> str:
    """``1h 05m``; whole hours as ``2h`` and less than an hour as ``45m``."""
    sign = "-" if minutes < 0 else ""
    hours, rest = divmod(abs(minutes), 60)
    if hours == 0:
        return f"{sign}{rest}m"
    if rest == 0:
        return f"{sign}{hours}h"
    return f"{sign}{hours}h {rest:02d}m"


def round_duration(minutes: int, step: int = 15) -> int:
    """The nearest multiple of ``step``; a duration half-way between two is rounded up."""
    if step < 1:
        raise ValueError(f"step must be positive: {step}")
    return round(minutes / step) * step
