import pytest

from pinfold import Constraint, Version


def allowed(text, *versions):
    constraint = Constraint(text)
    return [version for version in versions if constraint.allows(Version.parse(version))]


def test_anything():
    assert allowed("*", "0.0.1", "7.1") == ["0.0.1", "7.1"]
    assert Constraint("") == Constraint("*")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.1", ["1.1"]),
        ("==1.1", ["1.1"]),
        ("!=1.1", ["1.0", "1.2"]),
        (">1.1", ["1.2"]),
        (">=1.1", ["1.1", "1.2"]),
        ("<1.1", ["1.0"]),
        ("<= 1.1", ["1.0", "1.1"]),
    ],
)
def test_comparisons(text, expected):
    assert allowed(text, "1.0", "1.1", "1.2") == expected


def test_several_terms():
    assert allowed(">=1.1, <1.3, !=1.2", "1.0", "1.1", "1.2", "1.3") == ["1.1"]


def test_caret_keeps_the_major_version():
    assert allowed("^1.2.3", "1.2.2", "1.2.3", "1.9", "2.0") == ["1.2.3", "1.9"]


def test_caret_keeps_the_minor_version_before_1():
    assert allowed("^0.2.3", "0.2.2", "0.2.3", "0.2.9", "0.3.0", "1.0") == ["0.2.3", "0.2.9"]


def test_caret_keeps_the_patch_version_before_0_1():
    assert allowed("^0.0.3", "0.0.2", "0.0.3", "0.0.4", "0.1.0") == ["0.0.3"]


def test_tilde_keeps_the_minor_version():
    assert allowed("~1.2.3", "1.2.2", "1.2.3", "1.2.9", "1.3.0") == ["1.2.3", "1.2.9"]


def test_prereleases_must_be_asked_for():
    assert allowed(">=1.0", "1.1.0-beta", "1.1.0") == ["1.1.0"]
    assert allowed("*", "1.0.0-beta") == []


def test_a_prerelease_allows_others_of_its_release():
    assert allowed(">=1.1.0-beta", "1.1.0-alpha", "1.1.0-beta", "1.1.0-rc", "1.1.0", "1.2.0") == [
        "1.1.0-beta",
        "1.1.0-rc",
        "1.1.0",
        "1.2.0",
    ]


def test_a_prerelease_allows_none_of_another_release():
    assert allowed(">=1.1.0-beta", "1.2.0-alpha", "2.0.0-beta") == []


@pytest.mark.parametrize("text", ["=>1", "1,", "^x"])
def test_refuses_what_is_not_a_constraint(text):
    with pytest.raises(ValueError):
        Constraint(text)
