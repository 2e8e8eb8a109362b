import pytest

from pinfold import Version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.2.3", Version(1, 2, 3)),
        ("v2", Version(2)),
        ("0.10", Version(0, 10)),
        ("1.0.0-rc.1", Version(1, 0, 0, ("rc", "1"))),
    ],
)
def test_parses(text, version):
    assert Version.parse(text) == version


@pytest.mark.parametrize("text", ["", "1.", "a.b", "1.2.3.4", "1.0.0-", "-1"])
def test_refuses_what_is_not_a_version(text):
    with pytest.raises(ValueError, match="not a version"):
        Version.parse(text)


def test_prints_all_parts():
    assert str(Version.parse("v1.2")) == "1.2.0"
    assert str(Version.parse("1.2.3-beta.4")) == "1.2.3-beta.4"


def ascending(*texts):
    versions = [Version.parse(text) for text in texts]
    return all(earlier < later for earlier, later in zip(versions, versions[1:]))


def test_compares_numbers():
    assert ascending("0.9.9", "1.0.0", "1.0.9", "1.0.10", "1.2", "1.10", "2")


def test_a_release_comes_after_its_prereleases():
    assert ascending("0.9.0", "1.0.0-alpha", "1.0.0-beta", "1.0.0", "1.0.1-alpha")


def test_a_longer_prerelease_comes_later():
    assert ascending("1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2")


def test_numbers_in_prereleases_count_as_numbers():
    assert ascending("1.0.0-rc.2", "1.0.0-rc.9", "1.0.0-rc.10", "1.0.0-rc.100", "1.0.0-rc.x")
