from datetime import date

from timesheet import by_day, by_project, overtime, parse_log, week_of
from timesheet.report import render


def log(day, *lines):
    return parse_log("\n".join([f"# {day}", *lines]))


MONDAY = log("2024-03-04", "09:00-12:00 website", "13:00-14:40 mail", "15:00-18:00 website")
SUNDAY = log("2024-03-10", "10:00-10:20 mail")
NEXT_MONDAY = log("2024-03-11", "09:00-10:00 mail")


def test_adds_up_projects():
    assert by_project(MONDAY, {}) == {"website": 360, "mail": 100}


def test_adds_to_earlier_totals():
    totals = {"mail": 5}
    assert by_project(SUNDAY, totals) is totals
    assert totals == {"mail": 25}


def test_reports_do_not_influence_each_other():
    assert by_project(MONDAY) == {"website": 360, "mail": 100}
    assert by_project(SUNDAY) == {"mail": 20}


def test_adds_up_days():
    assert by_day(MONDAY + SUNDAY) == {date(2024, 3, 4): 460, date(2024, 3, 10): 20}


def test_counts_each_side_of_midnight_for_its_day():
    entries = log("2024-03-05", "22:30-00:15 website", "08:00-09:00 mail")
    assert by_day(entries) == {date(2024, 3, 5): 150, date(2024, 3, 6): 15}


def test_an_entry_until_midnight_belongs_to_one_day():
    assert by_day(log("2024-03-05", "23:00-00:00 website")) == {date(2024, 3, 5): 60}


def test_a_week_begins_on_monday():
    entries = MONDAY + NEXT_MONDAY
    assert week_of(entries, date(2024, 3, 6)) == MONDAY
    assert week_of(entries, date(2024, 3, 11)) == NEXT_MONDAY


def test_a_week_ends_on_sunday():
    entries = MONDAY + SUNDAY + NEXT_MONDAY
    assert week_of(entries, date(2024, 3, 4)) == MONDAY + SUNDAY
    assert week_of(entries, date(2024, 3, 10)) == MONDAY + SUNDAY


def test_overtime_of_single_days():
    entries = log("2024-03-04", "08:00-18:00 website") + log("2024-03-05", "08:00-12:00 website")
    assert overtime(entries) == {(2024, 10): 120}


def test_overtime_of_the_week():
    days = [log(f"2024-03-0{day}", "08:00-16:00 website") for day in range(4, 10)]
    assert overtime(sum(days, [])) == {(2024, 10): 480}


def test_no_overtime():
    assert overtime(MONDAY) == {(2024, 10): 0}
    assert overtime([]) == {}


def test_renders_the_longest_first():
    assert render(MONDAY + SUNDAY) == "website  6h\nmail     2h\ntotal    8h"
    assert render(SUNDAY, step=15) == "mail   15m\ntotal  15m"
    assert render([], step=15) == "nothing logged"
