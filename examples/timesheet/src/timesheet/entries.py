"""The log format, one entry a line::

    # 2024-03-04
    09:00-10:30  website: home page
    10:30-11:00  mail
    22:30-00:15  website: release
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from .intervals import Interval

_DAY = re.compile(r"^#\s*(\d{4}-\d{2}-\d{2})\s*$")
_ENTRY = re.compile(r"^(\d{1,2}:\d{2})\s*-\s*(\d{1,2}:\d{2})\s+(.+)$")


class LogError(ValueError):
    """A line that cannot be read; ``line`` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line


@dataclass(frozen=True)
class Entry:
    interval: Interval
    project: str
    note: str = ""

    @property
    def day(self) -> date:
        return self.interval.start.date()

    @property
    def minutes(self) -> int:
        return self.interval.minutes


def parse_log(text: str) -> list[Entry]:
    entries: list[Entry] = []
    day: date | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line:
            continue
        if heading := _DAY.match(line):
            day = date.fromisoformat(heading[1])
            continue
        match = _ENTRY.match(line)
        if match is None:
            raise LogError(number, f"expected HH:MM-HH:MM and a project: {line!r}")
        if day is None:
            raise LogError(number, "entry before the first day")
        entries.append(_entry(number, day, *match.groups()))
    return entries


def _entry(number: int, day: date, start_text: str, end_text: str, subject: str) -> Entry:
    start = datetime.combine(day, _clock(number, start_text))
    end = datetime.combine(day, _clock(number, end_text))
    if end == start:
        raise LogError(number, "entry without duration")
    if end < start:
        end += timedelta(days=1)
    project, _, note = subject.partition(":")
    return Entry(Interval(start, end), project.strip().lower(), note.strip())


def _clock(number: int, text: str) -> time:
    hours, minutes = map(int, text.split(":"))
    if hours > 23 or minutes > 59:
        raise LogError(number, f"no such time: {text}")
    return time(hours, minutes)
