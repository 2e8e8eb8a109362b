import pytest

from timesheet import format_duration, parse_duration, round_duration


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("1h 30m", 90), ("2h", 120), ("45m", 45), (" 45 min ", 45), ("1H5M", 65), ("0m", 0)],
)
def test_parses_hours_and_minutes(text, minutes):
    assert parse_duration(text) == minutes


def test_parses_fractions_of_an_hour():
    assert parse_duration("1.5h") == 90
    assert parse_duration("0.25h") == 15
    assert parse_duration("2.1h") == 126


@pytest.mark.parametrize("text", ["", "h", "90", "1h 30", "1.5m", "one hour", "1.h"])
def test_refuses_what_is_not_a_duration(text):
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(65, "1h 05m"), (120, "2h"), (45, "45m"), (0, "0m"), (-90, "-1h 30m")],
)
def test_formats(minutes, text):
    assert format_duration(minutes) == text


def test_rounds_to_the_nearest_step():
    assert [round_duration(minutes) for minutes in (0, 7, 8, 22, 23, 60)] == [0, 0, 15, 15, 30, 60]
    assert round_duration(95, 30) == 90


def test_rounds_up_half_way():
    assert [round_duration(minutes, 10) for minutes in (5, 15, 25, 35)] == [10, 20, 30, 40]


def test_needs_a_positive_step():
    with pytest.raises(ValueError, match="step"):
        round_duration(10, 0)
