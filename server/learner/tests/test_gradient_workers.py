"""Several processes, one gradient."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from prime_learner.gradient_workers import GradientWorkers, WorkerError, split_evenly
from prime_learner.model import ModelShape, new_model
from prime_learner.rows import TrainingRow
from prime_learner.schedule import Schedule
from prime_learner.supervised import SupervisedOptions, train_supervised
from torch import Tensor, nn

VOCABULARY = 400
OPTIONS = SupervisedOptions(
    steps=4, rows_per_step=4, tokens_per_pack=700, seed=5, schedule=Schedule(warmup_steps=2, peak=3e-3),
    checkpoint_every=2,
)


def _multiply(model: nn.Module, factor: float) -> float:
    loss = factor * sum(weight.sum() for weight in model.parameters())
    assert isinstance(loss, Tensor)
    torch.autograd.backward(loss)
    return loss.item()


def _fail(_: nn.Module, part: str) -> None:
    if part == "bad":
        raise ValueError("what went wrong")


def _die(_: nn.Module, part: str) -> None:
    if part == "bad":
        os.kill(os.getpid(), signal.SIGKILL)


def test_gradients_of_all_parts_are_added_and_new_weights_are_seen_by_all() -> None:
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    with GradientWorkers(model, 2) as workers:
        assert workers.add_gradients(_multiply, [1.0, 10.0]) == [2.0, 20.0]
        assert model.weight.grad is not None
        assert model.weight.grad.item() == 11.0
        model.zero_grad(set_to_none=True)
        with torch.no_grad():
            model.weight.fill_(3.0)
        assert workers.add_gradients(_multiply, [1.0, 10.0]) == [3.0, 30.0]
        assert model.weight.grad is not None
        assert model.weight.grad.item() == 11.0


def test_training_by_two_is_training_by_one_to_rounding(
    tmp_path: Path, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    models = {}
    for name, processes in (("one", 1), ("two", 2), ("again", 2)):
        models[name] = new_model(tiny_shape, VOCABULARY, seed=1)
        train_supervised(
            models[name], rows, OPTIONS, tmp_path / name, "d", processes=processes
        )
    for name, weight in models["one"].state_dict().items():
        torch.testing.assert_close(models["two"].state_dict()[name], weight, atol=1e-4, rtol=1e-3)
        assert torch.equal(models["again"].state_dict()[name], models["two"].state_dict()[name])


@pytest.mark.parametrize(
    ("work", "reason"), [(_fail, "what went wrong"), (_die, r"has ended \(exit code -9\)")]
)
def test_a_part_that_fails_elsewhere_is_told_here(work: object, reason: str) -> None:
    with GradientWorkers(nn.Linear(1, 1), 2) as workers, pytest.raises(WorkerError, match=reason):
        workers.add_gradients(work, ["good", "bad"])  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(30))
def test_parts_hold_everything_once_and_are_even(seed: int) -> None:
    chance = random.Random(seed)
    lengths = [chance.randint(1, 2000) for _ in range(chance.randint(1, 40))]
    count = chance.randint(1, 4)
    parts = split_evenly(lengths, count)
    assert sorted(at for part in parts for at in part) == list(range(len(lengths)))
    assert len(parts) == min(count, len(lengths))
    sums = [sum(lengths[at] for at in part) for part in parts]
    assert max(sums) - min(sums) <= max(lengths)
