"""Half-open intervals of time: the start belongs to an interval, the end does not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Iterable, Iterator


@dataclass(frozen=True, order=True)
class Interval:
    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.end <= self.start:
            raise ValueError(f"interval ends before it starts: {self.start} to {self.end}")

    @property
    def minutes(self) -> int:
        return int((self.end - self.start).total_seconds()) // 60

    def __contains__(self, moment: datetime) -> bool:
        return self.start <= moment < self.end

    def overlaps(self, other: Interval) -> bool:
        return self.start < other.end and other.start < self.end

    def intersection(self, other: Interval) -> Interval | None:
        if not self.overlaps(other):
            return None
        return Interval(max(self.start, other.start), min(self.end, other.end))


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    """The same time as the fewest intervals, in order. Intervals that touch become one."""
    merged: list[Interval] = []
    for interval in sorted(intervals):
        if merged and interval.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Interval(last.start, max(last.end, interval.end))
        else:
            merged.append(interval)
    return merged


def total(intervals: Iterable[Interval]) -> int:
    """Minutes covered; time that several intervals cover counts once."""
    return sum(interval.minutes for interval in merge(intervals))


def subtract(interval: Interval, holes: Iterable[Interval]) -> list[Interval]:
    """What is left of an interval without the holes, in order."""
    rest: list[Interval] = []
    start = interval.start
    for hole in merge(holes):
        if not interval.overlaps(hole):
            continue
        if hole.start > start:
            rest.append(Interval(start, hole.start))
            start = hole.end
    if start < interval.end:
        rest.append(Interval(start, interval.end))
    return rest


def gaps(intervals: Iterable[Interval], *, at_least: int = 1) -> list[Interval]:
    """Free time between intervals, as far as it lasts ``at_least`` minutes."""
    return [gap for gap in _between(merge(intervals)) if gap.minutes >= at_least]


def _between(merged: list[Interval]) -> Iterator[Interval]:
    for earlier, later in zip(merged, merged[1:]):
        yield Interval(earlier.end, later.start)


def clip(intervals: Iterable[Interval], window: Interval) -> list[Interval]:
    """The parts of intervals that lie in a window; those outside are left out."""
    clipped = (interval.intersection(window) for interval in intervals)
    return [interval for interval in clipped if interval is not None]
