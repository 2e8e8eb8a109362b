import pytest

from pinfold import CycleError, Index, install_order, resolve


def order(requires):
    index = Index.from_dict({name: {"1": {n: "*" for n in names}} for name, names in requires.items()})
    return [package.name for package in install_order(resolve(index, dict.fromkeys(requires, "*")))]


def test_orders_by_name():
    assert order({"c": [], "a": [], "b": []}) == ["a", "b", "c"]


def test_puts_what_is_required_first():
    assert order({"a": ["b"], "b": ["c"], "c": []}) == ["c", "b", "a"]


def test_installs_what_several_need_once():
    assert order({"app": ["web", "mail"], "web": ["log"], "mail": ["log"], "log": []}) == [
        "log",
        "mail",
        "web",
        "app",
    ]


def test_finds_cycles():
    with pytest.raises(CycleError) as caught:
        order({"app": ["a"], "a": ["b"], "b": ["c"], "c": ["a"]})
    assert caught.value.path == ["a", "b", "c", "a"]
