from datetime import date, datetime

import pytest

from timesheet import LogError, parse_log

LOG = """
# 2024-03-04
09:00-10:30  Website: home page
10:30 - 11:00  mail

# 2024-03-05
22:30-00:15  website: release: part 2
"""


def test_reads_entries():
    first, second, _ = parse_log(LOG)
    assert (first.day, first.project, first.note, first.minutes) == (
        date(2024, 3, 4),
        "website",
        "home page",
        90,
    )
    assert (second.project, second.note, second.minutes) == ("mail", "", 30)


def test_an_entry_may_go_over_midnight():
    entry = parse_log(LOG)[-1]
    assert entry.interval.end == datetime(2024, 3, 6, 0, 15)
    assert entry.day == date(2024, 3, 5)
    assert entry.note == "release: part 2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("09:00-10:00 x", "line 1: entry before the first day"),
        ("# 2024-03-04\n9-10 x", "line 2: expected"),
        ("# 2024-03-04\n\n09:00-24:00 x", "line 3: no such time: 24:00"),
        ("# 2024-03-04\n09:00-09:00 x", "line 2: entry without duration"),
    ],
)
def test_says_what_cannot_be_read(text, message):
    with pytest.raises(LogError, match=message):
        parse_log(text)
