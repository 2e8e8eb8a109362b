import pytest

from pinfold import Index, LockError, Version, dump, load, resolve

REQUIREMENTS = {"web": "^1", "mail": "*"}


def lock():
    index = Index.from_dict({"web": {"1.4.0": {}}, "mail": {"2.0.0-rc.1": {}, "1.0.0": {}}})
    return dump(resolve(index, REQUIREMENTS), REQUIREMENTS)


def test_is_sorted():
    header, *lines = lock().splitlines()
    assert header.startswith("# pinfold lock file, requirements ")
    assert lines == ["mail==1.0.0", "web==1.4.0"]


def test_can_be_read_back():
    assert load(lock(), REQUIREMENTS) == {"web": Version(1, 4), "mail": Version(1)}
    assert load(lock(), dict(reversed(REQUIREMENTS.items()))) == load(lock(), REQUIREMENTS)


def test_ignores_comments_and_blank_lines():
    assert load(lock() + "\n# the end\n", REQUIREMENTS)["web"] == Version(1, 4)


def test_is_out_of_date_when_a_constraint_changed():
    with pytest.raises(LockError, match="out of date"):
        load(lock(), {**REQUIREMENTS, "web": "^1.1"})


def test_is_out_of_date_when_a_requirement_came():
    with pytest.raises(LockError, match="out of date"):
        load(lock(), {**REQUIREMENTS, "cache": "*"})


def test_says_which_line_is_wrong():
    with pytest.raises(LockError, match="line 4"):
        load(lock() + "web\n", REQUIREMENTS)
    with pytest.raises(LockError, match="not a lock file"):
        load("", REQUIREMENTS)
