from datetime import datetime

import pytest

from timesheet import Interval, gaps, merge, subtract, total
from timesheet.intervals import clip


def span(start, end):
    """09:30 is written 930."""
    return Interval(*(datetime(2024, 3, 4, clock // 100, clock % 100) for clock in (start, end)))


def test_an_interval_must_last():
    with pytest.raises(ValueError, match="ends before it starts"):
        span(1000, 1000)


def test_the_end_does_not_belong_to_an_interval():
    morning = span(900, 1200)
    assert datetime(2024, 3, 4, 9) in morning
    assert datetime(2024, 3, 4, 12) not in morning
    assert not morning.overlaps(span(1200, 1300))
    assert morning.overlaps(span(1159, 1300))


def test_merges_what_overlaps():
    assert merge([span(1000, 1200), span(900, 1030)]) == [span(900, 1200)]
    assert merge([span(900, 1200), span(1000, 1100)]) == [span(900, 1200)]


def test_keeps_apart_what_is_apart():
    assert merge([span(1300, 1400), span(900, 1000)]) == [span(900, 1000), span(1300, 1400)]


def test_merges_what_touches():
    assert merge([span(900, 1000), span(1000, 1100), span(1101, 1200)]) == [
        span(900, 1100),
        span(1101, 1200),
    ]


def test_counts_time_once():
    assert total([span(900, 1000), span(930, 1030)]) == 90
    assert total([]) == 0


def test_subtracts_a_hole():
    assert subtract(span(900, 1700), [span(1200, 1300)]) == [span(900, 1200), span(1300, 1700)]
    assert subtract(span(900, 1700), [span(1600, 1800)]) == [span(900, 1600)]


def test_subtracts_a_hole_that_begins_earlier():
    assert subtract(span(900, 1700), [span(800, 1000)]) == [span(1000, 1700)]
    assert subtract(span(900, 1700), [span(800, 1800)]) == []


def test_subtracts_nothing():
    assert subtract(span(900, 1700), []) == [span(900, 1700)]
    assert subtract(span(900, 1700), [span(1700, 1800)]) == [span(900, 1700)]


def test_subtracts_several_holes():
    holes = [span(1500, 1515), span(700, 800), span(1200, 1300)]
    assert subtract(span(900, 1700), holes) == [
        span(900, 1200),
        span(1300, 1500),
        span(1515, 1700),
    ]


def test_finds_gaps():
    busy = [span(900, 1000), span(1300, 1400), span(1010, 1200)]
    assert gaps(busy) == [span(1000, 1010), span(1200, 1300)]
    assert gaps(busy, at_least=11) == [span(1200, 1300)]
    assert gaps(busy, at_least=10) == gaps(busy)


def test_clips_to_a_window():
    assert clip([span(800, 930), span(1000, 1100), span(1200, 1300)], span(900, 1030)) == [
        span(900, 930),
        span(1000, 1030),
    ]
