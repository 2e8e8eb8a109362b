from __future__ import annotations

import json
from pathlib import Path

import pytest
from prime_learner.rows import read_rows
from prime_learner.strict import InputError
from tests.conftest import write_lines

GOOD: dict[str, object] = {"id": "a", "ids": [1, 2, 3], "loss_mask": [0, 1, 1]}
RL: dict[str, object] = {
    "group": "g",
    "rollout": "r",
    "policy_version": 3,
    "logprobs": [0, -0.5, -0.25],
    "reward": 1,
    "in_gradient": True,
}


def _choice(at: int, **changes: object) -> dict[str, object]:
    return {"at": at, "ids": [2, 3], "bias": [-0.25, -1.5], **changes}


def _choices(*choices: dict[str, object]) -> dict[str, object]:
    return {"choices": list(choices)}


def test_reads_what_could_have_come(tmp_path: Path) -> None:
    lines = [
        GOOD,
        {**GOOD, "id": "b", **_choices(_choice(1), _choice(2))},
        {**GOOD, "id": "c", "loss_mask": [0, 0, 0], **_choices(), "reinforcement": {**RL, "logprobs": [0, 0, 0]}},
    ]
    path = write_lines(tmp_path / "rows.jsonl", *map(json.dumps, lines))
    without, drawn, forced = read_rows(path, 4)
    assert without.choices is None
    assert drawn.choices is not None
    assert [choice.at for choice in drawn.choices] == [1, 2]
    assert (drawn.choices[0].ids, drawn.choices[0].bias) == ((2, 3), (-0.25, -1.5))
    assert (forced.choices, forced.learnt_tokens) == ((), 0)


def test_reads_rows_of_both_kinds(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "rows.jsonl", json.dumps(GOOD), "", json.dumps({**GOOD, "id": "b", "reinforcement": RL})
    )
    supervised, reinforced = read_rows(path, 4)
    assert supervised.ids == (1, 2, 3)
    assert supervised.learnt_tokens == 2
    assert supervised.reinforcement is None
    assert reinforced.reinforcement is not None
    assert reinforced.reinforcement.logprobs == (0, -0.5, -0.25)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss_mask": [0, 1]}, "row a: 3 ids but 2 entries in loss_mask"),
        ({"loss_mask": [0, 2, 0]}, "row a: loss_mask may only hold 0 and 1"),
        ({"loss_mask": [1, 0, 0]}, "row a: loss_mask[0] is 1, but nothing comes before the first token"),
        ({"loss_mask": [0, 0, 0]}, "row a: loss_mask is 0 everywhere"),
        ({"ids": [1, -2, 3]}, "row a: ids[1] is negative"),
        ({"ids": [1, 2, 9]}, "row a: ids[2] is 9, but the vocabulary has 4 entries"),
        ({"ids": [1, "2", 3]}, "ids[1]: Input should be a valid integer"),
        ({"ids": [1, 2.5, 3]}, "ids[1]: Input should be a valid integer"),
        ({"ids": [1]}, "ids: Tuple should have at least 2 items"),
        ({"weight": 1}, "weight: unknown option"),
        ({"id": None}, "id: Input should be a valid string"),
        ({"reinforcement": {**RL, "logprobs": [0, -1]}}, "row a: 3 ids but 2 logprobs"),
        ({"reinforcement": {**RL, "logprobs": [-1, -1, -1]}}, "row a: logprobs[0] is -1 where loss_mask is 0"),
        ({"reinforcement": {**RL, "logprobs": [0, 0.5, -1]}}, "row a: logprobs[1] is 0.5, not a logarithm"),
        ({"reinforcement": {**RL, "group": ""}}, "reinforcement.group: String should have at least 1"),
        ({"reinforcement": {"group": "g"}}, "reinforcement.rollout: is missing"),
        (_choices(_choice(2)), "row a: loss_mask[1] is 1, but no choice is there: a token that was forced"),
        (_choices(), "row a: loss_mask[1] is 1, but no choice is there"),
        (
            {**_choices(_choice(1), _choice(2)), "loss_mask": [0, 1, 0]},
            "row a: choices[1].at is 2, but loss_mask is 0 there",
        ),
        (
            _choices(_choice(2), _choice(1)),
            "row a: choices[1].at is 1, which does not come behind 2",
        ),
        (_choices(_choice(1), _choice(1)), "row a: choices[1].at is 1, which does not come behind 1"),
        (
            _choices(_choice(1), _choice(2), _choice(3)),
            "row a: choices[2].at is 3, but the row has 3 ids",
        ),
        (
            _choices(_choice(1), _choice(2, ids=[1, 2])),
            "row a: choices[1].at is 2, but ids[2] (3) is not among its ids",
        ),
        (
            _choices(_choice(1), _choice(2, ids=[3, 9])),
            "row a: choices[1] has id 9, but the vocabulary has 4 entries",
        ),
        (_choices(_choice(1, ids=[2])), "choices[0].ids: Tuple should have at least 2 items"),
        (_choices(_choice(1, ids=[2, 2])), "choices[0]: choice at 1: id 2 is there twice"),
        (_choices(_choice(1, ids=[2, -1])), "choices[0]: choice at 1: id -1 is negative"),
        (_choices(_choice(1, bias=[0])), "choices[0]: choice at 1: 2 ids but 1 biases"),
        (
            _choices(_choice(1, bias=[0, -1e9])),
            "choices[0]: choice at 1: the bias of id 3 is -1e+09, not between -10000 and 10000",
        ),
        (_choices(_choice(-1)), "choices[0].at: Input should be greater than or equal to 0"),
        (_choices(_choice(1, prior=1)), "choices[0].prior: unknown option"),
        (
            {
                **_choices(_choice(2)), "loss_mask": [0, 0, 1],
                "reinforcement": {**RL, "logprobs": [0, -1, -1]},
            },
            "row a: logprobs[1] is -1 where loss_mask is 0",
        ),
    ],
)
def test_says_which_row_is_wrong_and_where(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = write_lines(tmp_path / "rows.jsonl", "", json.dumps({**GOOD, **change}))
    with pytest.raises(InputError) as caught:
        read_rows(path, 4)
    assert str(caught.value).startswith(f"{path}, line 2: {message}")


def test_refuses_a_row_that_was_there_before(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "rows.jsonl", json.dumps(GOOD), json.dumps(GOOD))
    with pytest.raises(InputError, match=r"line 2: row a was there before \(line 1\)"):
        read_rows(path, 4)


@pytest.mark.parametrize("text", ["{", "[]", "NaN"])
def test_refuses_what_is_no_object(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="line 1: "):
        read_rows(write_lines(tmp_path / "rows.jsonl", text), 4)


def test_refuses_not_a_number(tmp_path: Path) -> None:
    text = json.dumps({**GOOD, "reinforcement": {**RL, "reward": float("nan")}})
    with pytest.raises(InputError, match="reinforcement.reward: Input should be a finite number"):
        read_rows(write_lines(tmp_path / "rows.jsonl", text), 4)


def test_refuses_an_empty_and_an_absent_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rows"):
        read_rows(write_lines(tmp_path / "rows.jsonl"), 4)
    with pytest.raises(InputError, match="none.jsonl cannot be read: No such file or directory"):
        read_rows(tmp_path / "none.jsonl", 4)
