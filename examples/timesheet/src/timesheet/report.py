"""Totals in minutes over entries."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime, time, timedelta
from typing import Iterable

from .duration import format_duration, round_duration
from .entries import Entry
from .intervals import Interval, clip, total


def by_project(entries: Iterable[Entry], totals: dict[str, int] = {}) -> dict[str, int]:
    """Minutes by project, added to ``totals`` where given."""
    for entry in entries:
        totals[entry.project] = totals.get(entry.project, 0) + entry.minutes
    return totals


def by_day(entries: Iterable[Entry]) -> dict[date, int]:
    """Minutes worked on each calendar day. An entry over midnight counts for both days."""
    entries = list(entries)
    days: set[date] = set()
    for entry in entries:
        days.add(entry.day)
        days.add((entry.interval.end - timedelta(microseconds=1)).date())
    return {
        day: total(clip((entry.interval for entry in entries), _whole_day(day)))
        for day in sorted(days)
    }


def week_of(entries: Iterable[Entry], day: date) -> list[Entry]:
    """Entries that start in the week, Monday to Sunday, to which ``day`` belongs."""
    first = day - timedelta(days=day.weekday())
    end = first + timedelta(days=6)
    return [entry for entry in entries if first <= entry.day < end]


def overtime(
    entries: Iterable[Entry],
    *,
    daily: int = 480,
    weekly: int = 2400,
) -> dict[tuple[int, int], int]:
    """
    Minutes of overtime by ISO year and week: what exceeds ``daily`` on single days, or ``weekly``
    over the week, whichever is more.
    """
    daily_excess: dict[tuple[int, int], int] = defaultdict(int)
    worked: dict[tuple[int, int], int] = defaultdict(int)
    for day, minutes in by_day(entries).items():
        year, week, _ = day.isocalendar()
        daily_excess[year, week] += max(0, minutes - daily)
        worked[year, week] += minutes
    return {week: max(daily_excess[week], worked[week] - weekly) for week in worked}


def render(entries: Iterable[Entry], *, step: int = 1) -> str:
    """One line per project, most time first, and the sum."""
    totals = {
        project: round_duration(minutes, step) for project, minutes in by_project(entries, {}).items()
    }
    if not totals:
        return "nothing logged"
    width = max(len("total"), *(len(project) for project in totals))
    lines = [
        f"{project:<{width}}  {format_duration(minutes)}"
        for project, minutes in sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    ]
    lines.append(f"{'total':<{width}}  {format_duration(sum(totals.values()))}")
    return "\n".join(lines)


def _whole_day(day: date) -> Interval:
    start = datetime.combine(day, time())
    return Interval(start, start + timedelta(days=1))
