"""Training rows: token ids as they were sampled, with what of them is learnt. One JSON object a line."""

from __future__ import annotations

import math
from pathlib import Path

from pydantic import Field, model_validator

from .strict import InputError, Strict, read_json_lines

# Log-probabilities come from another program's arithmetic: a hair above zero is rounding.
_ROUNDING = 1e-4


class Reinforcement(Strict):
    """What a row of a rollout needs beyond its tokens."""

    group: str = Field(min_length=1)
    """Attempts at one task by one policy version."""
    rollout: str = Field(min_length=1)
    """The attempt. It has several rows where its turns are not an exact token prefix of each other."""
    policy_version: int = Field(ge=0)
    logprobs: tuple[float, ...] | None
    """Of the sampler, natural logarithms, one per id; exactly 0 where `loss_mask` is 0. As sampled: after
    temperature and all else. None: none were recorded; the rollout counts in the group's mean only."""
    reward: float | None
    """None: invalid (cancelled, infrastructure): neither in the group's mean nor in the gradient."""
    in_gradient: bool
    """False: in the group's mean only (budget used up)."""


# A bias is the logarithm of a share of the prior weight. This is far from what excludes an id (attention.py).
_MOST_BIAS = 1e4


class Choice(Strict):
    """A place of a reply from a set where more than one next token was possible."""

    at: int = Field(ge=0)
    """Place of the token that was drawn: in a row of its ids, in a message of the reply (see there)."""
    ids: tuple[int, ...] = Field(min_length=2)
    """The possible next tokens, in any order."""
    bias: tuple[float, ...]
    """Of each of `ids`: logarithm of the share of the set's prior weight below that token. The token was
    drawn from softmax(logit[id] + bias[id]) over `ids` alone."""

    @model_validator(mode="after")
    def _consistent(self) -> Choice:
        if len(self.bias) != len(self.ids):
            raise ValueError(f"choice at {self.at}: {len(self.ids)} ids but {len(self.bias)} biases")
        if len(set(self.ids)) < len(self.ids):
            twice = next(token for token in self.ids if self.ids.count(token) > 1)
            raise ValueError(f"choice at {self.at}: id {twice} is there twice")
        if min(self.ids) < 0:
            raise ValueError(f"choice at {self.at}: id {min(self.ids)} is negative")
        for token, bias in zip(self.ids, self.bias, strict=True):
            if abs(bias) > _MOST_BIAS:
                raise ValueError(
                    f"choice at {self.at}: the bias of id {token} is {bias:g}, not between "
                    f"-{_MOST_BIAS:g} and {_MOST_BIAS:g}; leave out what cannot be drawn"
                )
        return self


class TrainingRow(Strict):
    id: str = Field(min_length=1)
    ids: tuple[int, ...] = Field(min_length=2)
    loss_mask: tuple[int, ...]
    """1: a token that the policy wrote and that is learnt (stop token included); 0: all others."""
    choices: tuple[Choice, ...] | None = None
    """For replies drawn from a set: one for each learnt token, in their order. None: any token could come."""
    reinforcement: Reinforcement | None = None

    @model_validator(mode="after")
    def _consistent(self) -> TrainingRow:
        problem = _problem(self)
        if problem is not None:
            raise ValueError(problem)
        return self

    @property
    def learnt_tokens(self) -> int:
        return sum(self.loss_mask)


def _problem(row: TrainingRow) -> str | None:
    if len(row.loss_mask) != len(row.ids):
        return f"row {row.id}: {len(row.ids)} ids but {len(row.loss_mask)} entries in loss_mask"
    if not set(row.loss_mask) <= {0, 1}:
        return f"row {row.id}: loss_mask may only hold 0 and 1"
    if min(row.ids) < 0:
        return f"row {row.id}: ids[{row.ids.index(min(row.ids))}] is negative"
    if row.loss_mask[0] == 1:
        return f"row {row.id}: loss_mask[0] is 1, but nothing comes before the first token to predict it from"
    problem = None if row.choices is None else _choices_problem(row, row.choices)
    if problem is not None:
        return problem
    if row.reinforcement is not None and row.reinforcement.logprobs is not None:
        return _logprobs_problem(row.id, row.reinforcement.logprobs, row.loss_mask)
    return None


def _choices_problem(row: TrainingRow, choices: tuple[Choice, ...]) -> str | None:
    before = -1
    for index, choice in enumerate(choices):
        where = f"row {row.id}: choices[{index}].at is {choice.at}"
        if choice.at <= before:
            return f"{where}, which does not come behind {before}"
        if choice.at >= len(row.ids):
            return f"{where}, but the row has {len(row.ids)} ids"
        if row.loss_mask[choice.at] == 0:
            return f"{where}, but loss_mask is 0 there"
        if row.ids[choice.at] not in choice.ids:
            return f"{where}, but ids[{choice.at}] ({row.ids[choice.at]}) is not among its ids"
        before = choice.at
    drawn = {choice.at for choice in choices}
    for at, learnt in enumerate(row.loss_mask):
        if learnt and at not in drawn:
            return f"row {row.id}: loss_mask[{at}] is 1, but no choice is there: a token that was forced is not learnt"
    return None


def _logprobs_problem(
    row_id: str, logprobs: tuple[float, ...], loss_mask: tuple[int, ...]
) -> str | None:
    if len(logprobs) != len(loss_mask):
        return f"row {row_id}: {len(loss_mask)} ids but {len(logprobs)} logprobs"
    for index, (logprob, learnt) in enumerate(zip(logprobs, loss_mask, strict=True)):
        if learnt == 0 and logprob != 0:
            return f"row {row_id}: logprobs[{index}] is {logprob:g} where loss_mask is 0"
        if not math.isfinite(logprob) or logprob > _ROUNDING:
            return f"row {row_id}: logprobs[{index}] is {logprob:g}, not a logarithm of a probability"
    return None


def read_rows(path: Path, vocabulary: int) -> tuple[TrainingRow, ...]:
    """All rows of a file, each id once.

    Raises:
        InputError: a row is malformed, repeated, has an id outside the vocabulary or nothing to learn.
    """
    first_line: dict[str, int] = {}
    rows: list[TrainingRow] = []
    for number, row in read_json_lines(TrainingRow, path):
        where = f"{path}, line {number}: row {row.id}"
        if row.id in first_line:
            raise InputError(f"{where} was there before (line {first_line[row.id]})")
        if max(row.ids) >= vocabulary:
            index = row.ids.index(max(row.ids))
            raise InputError(
                f"{where}: ids[{index}] is {row.ids[index]}, but the vocabulary has {vocabulary} "
                "entries; the rows were made with another tokenizer"
            )
        for place, choice in enumerate(row.choices or ()):
            if max(choice.ids) >= vocabulary:
                raise InputError(
                    f"{where}: choices[{place}] has id {max(choice.ids)}, but the vocabulary has {vocabulary} "
                    "entries; the rows were made with another tokenizer"
                )
        if row.learnt_tokens == 0 and row.reinforcement is None:
            raise InputError(f"{where}: loss_mask is 0 everywhere; leave the row out")
        first_line[row.id] = number
        rows.append(row)
    if not rows:
        raise InputError(f"{path}: no rows")
    return tuple(rows)
