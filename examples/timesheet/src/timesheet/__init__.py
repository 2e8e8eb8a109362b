"""Reports from plain-text work logs."""

from .duration import format_duration, parse_duration, round_duration
from .entries import Entry, LogError, parse_log
from .intervals import Interval, gaps, merge, subtract, total
from .report import by_day, by_project, overtime, week_of

__all__ = [
    "Entry",
    "Interval",
    "LogError",
    "by_day",
    "by_project",
    "format_duration",
    "gaps",
    "merge",
    "overtime",
    "parse_duration",
    "parse_log",
    "round_duration",
    "subtract",
    "total",
    "week_of",
]
