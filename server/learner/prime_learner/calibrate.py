"""How much a network should count against the weights of the sets that it chooses from.

A network that has learnt from few kinds of code is surer of itself on other code than it may be. One factor
for all of its logits (temperature scaling, Guo et al. 2017, "On Calibration of Modern Neural Networks") is
found on rows that it has not learnt from, and written into its last norm, so that every reader has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import Qwen2ForCausalLM

from .attention import use_packed_attention, vocabulary_logits
from .packing import pack, plan_packs
from .rows import TrainingRow
from .strict import InputError

_MOST = 4.0
"""A larger factor says that something else is wrong."""


@dataclass(frozen=True)
class Calibration:
    """Losses are in nats per row: minus the log-probability of what was chosen."""

    factor: float
    """For the logits, at least 0."""
    rows: int
    loss: float
    """With the factor."""
    loss_before: float
    """With the logits as they are."""
    loss_without: float
    """By the weights of the sets alone, as if the factor were 0."""


@dataclass(frozen=True)
class _Options:
    """All C ids of all places with a choice, one behind the other; place numbers ascend from 0."""

    place: Tensor
    """int64 [C]"""
    logit: Tensor
    """float64 [C]"""
    bias: Tensor
    """float64 [C]"""
    chosen: Tensor
    """bool [C]: one of each place"""


def calibrate(
    model: Qwen2ForCausalLM, rows: Sequence[TrainingRow], tokens_per_pack: int
) -> Calibration:
    """The factor under which the rows are likeliest.

    Raises:
        InputError: a row without choices, or one that is longer than a pack.
    """
    for row in rows:
        if row.choices is None:
            raise InputError(f"row {row.id} has no choices: there is nothing to weigh its logits against")
    options = _options(model, rows, tokens_per_pack)

    def loss(factor: float) -> float:
        return _summed_loss(options, factor) / len(rows)

    factor = _least(loss, 0.0, _MOST)
    return Calibration(factor, len(rows), loss(factor), loss(1.0), loss(0.0))


@torch.no_grad()
def scale_logits(model: Qwen2ForCausalLM, factor: float) -> None:
    """Multiplies all logits of the model by the factor, in place."""
    model.model.norm.weight.mul_(factor)


@torch.no_grad()
def _options(
    model: Qwen2ForCausalLM, rows: Sequence[TrainingRow], tokens_per_pack: int
) -> _Options:
    use_packed_attention(model)
    model.eval()
    parts: list[_Options] = []
    places = 0
    for indices in plan_packs([len(row.ids) for row in rows], tokens_per_pack):
        packed = pack([rows[index] for index in indices])
        choices = packed.choices
        assert choices is not None
        logits = vocabulary_logits(model, packed)
        wanted = packed.ids[packed.loss_mask]
        distinct, number = choices.place.unique(return_inverse=True)
        parts.append(
            _Options(
                place=number + places,
                logit=logits[choices.place, choices.id].double(),
                bias=choices.bias.double(),
                chosen=choices.id == wanted[choices.place],
            )
        )
        places += len(distinct)
    return _Options(
        place=torch.cat([part.place for part in parts]),
        logit=torch.cat([part.logit for part in parts]),
        bias=torch.cat([part.bias for part in parts]),
        chosen=torch.cat([part.chosen for part in parts]),
    )


def _summed_loss(options: _Options, factor: float) -> float:
    energy = factor * options.logit + options.bias
    places = int(options.place[-1]) + 1
    largest = energy.new_full((places,), -torch.inf)
    largest = largest.scatter_reduce(0, options.place, energy, "amax")
    summed = energy.new_zeros(places).index_add(
        0, options.place, (energy - largest[options.place]).exp()
    )
    whole = (largest + summed.log()).sum()
    return float(whole - energy[options.chosen].sum())


def _least(loss: Callable[[float], float], low: float, high: float) -> float:
    """Where a convex function is least, to a thousandth (the loss is convex in the factor)."""
    while high - low > 1e-3:
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if loss(left) <= loss(right):
            high = right
        else:
            low = left
    return (low + high) / 2
