import pytest

from pinfold import Index, ResolutionError, Version, resolve


def versions(index, requirements, **options):
    chosen = resolve(Index.from_dict(index), requirements, **options)
    return {name: str(package.version) for name, package in chosen.items()}


def test_needs_nothing():
    assert versions({}, {}) == {}


def test_takes_the_newest_version_that_fits():
    index = {"web": {"1.9.0": {}, "1.10.0": {}, "2.0.0": {}}}
    assert versions(index, {"web": "^1"}) == {"web": "1.10.0"}


def test_follows_requirements():
    index = {
        "web": {"1.0.0": {"http": ">=2"}},
        "http": {"1.0.0": {}, "2.1.0": {"url": "*"}},
        "url": {"0.1.0": {}},
    }
    assert versions(index, {"web": "*"}) == {"web": "1.0.0", "http": "2.1.0", "url": "0.1.0"}


def test_meets_the_constraints_of_all():
    index = {
        "web": {"1.0.0": {"http": "<3"}},
        "mail": {"1.0.0": {"http": ">=1.5"}},
        "http": {"1.0.0": {}, "2.0.0": {}, "3.0.0": {}},
    }
    assert versions(index, {"web": "*", "mail": "*"})["http"] == "2.0.0"


def test_takes_an_older_version_when_the_newest_cannot_work():
    index = {
        "web": {"2.0.0": {"http": ">=9"}, "1.0.0": {"http": "*"}},
        "http": {"1.0.0": {}},
    }
    assert versions(index, {"web": "*"}) == {"web": "1.0.0", "http": "1.0.0"}


def test_leaves_nothing_of_versions_that_were_given_up():
    index = {
        "web": {"2.0.0": {"cache": "*", "http": ">=9"}, "1.0.0": {"http": "*"}},
        "cache": {"1.0.0": {}},
        "http": {"1.0.0": {}},
    }
    assert versions(index, {"web": "*"}) == {"web": "1.0.0", "http": "1.0.0"}


def test_prefers_what_is_locked():
    index = {"web": {"1.0.0": {}, "1.1.0": {}, "1.2.0": {}}}
    locked = {"web": Version(1, 1), "gone": Version(1)}
    assert versions(index, {"web": "^1"}, preferred=locked) == {"web": "1.1.0"}
    assert versions(index, {"web": ">1.1"}, preferred=locked) == {"web": "1.2.0"}


def test_a_cycle_is_no_problem():
    index = {"a": {"1.0.0": {"b": "*"}}, "b": {"1.0.0": {"a": "^1"}}}
    assert versions(index, {"a": "*"}) == {"a": "1.0.0", "b": "1.0.0"}


def test_says_who_asked_for_what():
    index = {
        "web": {"1.0.0": {"http": "<2"}},
        "http": {"1.0.0": {}, "2.0.0": {}},
    }
    with pytest.raises(ResolutionError) as caught:
        versions(index, {"http": ">=2", "web": "*"})
    assert str(caught.value) == (
        "no version of http fits\n"
        "  the project requires http >=2\n"
        "  web 1.0.0 requires http <2"
    )


def test_says_what_does_not_exist():
    with pytest.raises(ResolutionError, match="no such package: nope\n  the project requires"):
        versions({}, {"nope": "*"})
