from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
import torch
from prime_learner.model import ModelShape, load_model, new_model
from prime_learner.optimizer import OptimizerOptions, Optimizers, apply_step, new_optimizer
from prime_learner.packing import pack
from prime_learner.rows import TrainingRow
from prime_learner.schedule import Schedule, learning_rate
from prime_learner.strict import InputError
from prime_learner.supervised import (
    StepMetrics,
    SupervisedOptions,
    supervised_loss,
    train_supervised,
)
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, Qwen2ForCausalLM

VOCABULARY = 400
OPTIONS = SupervisedOptions(
    steps=11, rows_per_step=4, tokens_per_pack=700, seed=5, schedule=Schedule(warmup_steps=2, peak=3e-3),
    checkpoint_every=3,
)


def _new(shape: ModelShape) -> Qwen2ForCausalLM:
    return new_model(shape, VOCABULARY, seed=1)


def _weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def _steps(folder: Path) -> list[int]:
    return [json.loads(line)["step"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_learns_the_demonstrations(
    tmp_path: Path, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    seen: list[StepMetrics] = []
    schedule = Schedule(warmup_steps=5, peak=1e-2)
    options = OPTIONS.model_copy(
        update={"steps": 60, "checkpoint_every": 1000, "schedule": schedule}
    )
    result = train_supervised(_new(tiny_shape), rows, options, tmp_path, "d", on_step=seen.append)
    assert result.finished
    assert seen[0].loss == pytest.approx(torch.log(torch.tensor(float(VOCABULARY))).item(), abs=0.3)
    assert seen[-1].loss < 2.0
    assert result.tokens_per_second > 0
    assert _steps(tmp_path) == list(range(1, 61))


@pytest.mark.parametrize("matrices", ["adamw", "muon"])
def test_a_run_that_was_interrupted_ends_with_the_same_bits(
    tmp_path: Path,
    rows: Sequence[TrainingRow],
    tiny_shape: ModelShape,
    matrices: Literal["adamw", "muon"],
) -> None:
    options = OPTIONS.model_copy(update={"optimizer": OptimizerOptions(matrices=matrices)})
    whole = _new(tiny_shape)
    train_supervised(whole, rows, options, tmp_path / "whole", "d")

    stop_at = random.Random().randrange(1, OPTIONS.steps)
    folder = tmp_path / "interrupted"
    done: list[int] = []
    first = train_supervised(
        _new(tiny_shape), rows, options, folder, "d",
        on_step=lambda metrics: done.append(metrics.step), should_stop=lambda: done[-1] == stop_at,
    )
    assert (first.finished, first.steps) == (False, stop_at)
    torch.manual_seed(999)  # Whatever else happened in between must not matter.
    model = _new(tiny_shape)
    second = train_supervised(model, rows, options, folder, "d")
    assert (second.finished, second.resumed_from) == (True, stop_at)
    for name, weight in _weights(whole).items():
        assert torch.equal(weight, _weights(model)[name]), f"{name} after a stop at {stop_at}"
    assert _steps(folder) == list(range(1, OPTIONS.steps + 1))


def test_a_run_that_was_killed_repeats_from_its_last_checkpoint(
    tmp_path: Path, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    class Killed(BaseException):
        pass

    def kill(metrics: StepMetrics) -> None:
        if metrics.step == 8:
            raise Killed

    whole = _new(tiny_shape)
    train_supervised(whole, rows, OPTIONS, tmp_path / "whole", "d")
    folder = tmp_path / "killed"
    with pytest.raises(Killed):
        train_supervised(_new(tiny_shape), rows, OPTIONS, folder, "d", on_step=kill)
    # The newest checkpoint was damaged, too: the one before it is used, and a note says so.
    (folder / "checkpoints/step-00000006/model.safetensors").write_bytes(b"")
    notes: list[str] = []
    model = _new(tiny_shape)
    result = train_supervised(model, rows, OPTIONS, folder, "d", on_note=notes.append)
    assert result.resumed_from == 3
    assert notes == [
        "checkpoint not used: step-00000006: model.safetensors was changed after it was written"
    ]
    for name, weight in _weights(whole).items():
        assert torch.equal(weight, _weights(model)[name]), name
    assert _steps(folder) == list(range(1, OPTIONS.steps + 1))


def test_a_run_does_not_go_on_with_other_options_or_data(
    tmp_path: Path, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    options = OPTIONS.model_copy(update={"steps": 2})
    train_supervised(_new(tiny_shape), rows, options, tmp_path, "d")
    with pytest.raises(InputError, match="was made with seed = 5, now it is 6: give the options"):
        train_supervised(
            _new(tiny_shape), rows, options.model_copy(update={"seed": 6}), tmp_path, "d"
        )
    with pytest.raises(InputError, match="was made with steps = 2, now it is 3"):
        train_supervised(
            _new(tiny_shape), rows, options.model_copy(update={"steps": 3}), tmp_path, "d"
        )
    with pytest.raises(InputError, match="from other data or first weights"):
        train_supervised(_new(tiny_shape), rows, options, tmp_path, "other")
    again = train_supervised(
        _new(tiny_shape), rows, options.model_copy(update={"checkpoint_every": 1}), tmp_path, "d"
    )
    assert (again.finished, again.resumed_from, again.last) == (True, 2, None)


def test_a_run_at_a_constant_rate_can_be_prolonged(
    tmp_path: Path, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    constant = Schedule(shape="constant", warmup_steps=2)
    short = OPTIONS.model_copy(update={"steps": 2, "schedule": constant})
    train_supervised(_new(tiny_shape), rows, short, tmp_path, "d")
    result = train_supervised(
        _new(tiny_shape), rows, short.model_copy(update={"steps": 4}), tmp_path, "d"
    )
    assert (result.resumed_from, result.steps, result.finished) == (2, 4, True)


def test_non_finite_steps_are_skipped_counted_and_end_the_run_when_they_go_on(
    tmp_path: Path, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    model = _new(tiny_shape)
    with torch.no_grad():
        model.model.norm.weight[0] = float("nan")
    before = _weights(model)
    notes: list[str] = []
    options = OPTIONS.model_copy(update={"stop_after_skipped": 3})
    with pytest.raises(InputError, match=r"3 steps in a row were not finite \(the last is step 3\)"):
        train_supervised(model, rows, options, tmp_path, "d", on_note=notes.append)
    assert notes[0] == "step 1 skipped: loss or gradient is not finite"
    for name, weight in _weights(model).items():
        torch.testing.assert_close(weight, before[name], equal_nan=True, atol=0, rtol=0)
    line = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[2])
    assert (line["loss"], line["skipped"], line["skipped_so_far"]) == (None, True, 3)


def test_a_non_finite_gradient_changes_neither_weights_nor_optimizer() -> None:
    model = nn.Linear(2, 2)
    optimizer = new_optimizer(model, OptimizerOptions())
    before = _weights(model)
    (model(torch.tensor([[float("inf"), 1.0]])).sum() * 0).backward()
    result = apply_step(model, optimizer, rate=1.0, clip_norm=1.0, loss=0.0)
    assert result.skipped
    assert optimizer.state_dict()["parts"][0]["state"] == {}
    assert all(torch.equal(weight, before[name]) for name, weight in _weights(model).items())
    assert all(weight.grad is None for weight in model.parameters())


def test_gradients_are_clipped_to_the_norm() -> None:
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 0.0)
    optimizer = Optimizers([torch.optim.SGD(model.parameters(), lr=0.0)])
    (model(torch.tensor([[1.0]])) * 50).sum().backward()
    result = apply_step(model, optimizer, rate=1.0, clip_norm=2.0, loss=0.0)
    assert result.gradient_norm == pytest.approx(50)
    assert model.weight.item() == pytest.approx(-2, rel=1e-4)


def test_muon_takes_orthogonal_steps_in_the_layers_and_leaves_the_tables_to_adamw(
    rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    after = {}
    for matrices in ("adamw", "muon"):
        model = _new(tiny_shape)
        before = _weights(model)
        options = OptimizerOptions(matrices=matrices, weight_decay=0)
        supervised_loss(model, pack(rows[:2]), 1).backward()
        apply_step(model, new_optimizer(model, options), rate=1e-3, clip_norm=1.0, loss=0.0)
        after[matrices] = {
            name: weight - before[name] for name, weight in _weights(model).items()
        }
    for name, moved in after["muon"].items():
        if moved.ndim == 2 and ".layers." in name:
            sizes = torch.linalg.svdvals(moved) / (1e-3 * 0.2 * max(moved.shape) ** 0.5)
            # Five rounds of Newton and Schulz bring singular values near 1, and the smallest only closer.
            assert 0.3 < sizes.median() < 1.3, name
            assert sizes.max() < 1.3, name
        else:
            torch.testing.assert_close(moved, after["adamw"][name], rtol=0, atol=0)


def test_weights_of_less_than_32_bits_are_refused(tiny_shape: ModelShape) -> None:
    with pytest.raises(InputError, match="weights must be float32 for training"):
        new_optimizer(_new(tiny_shape).bfloat16(), OptimizerOptions())


def test_rows_that_do_not_fit_are_named(
    tmp_path: Path, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    small = tiny_shape.model_copy(update={"context": 100})
    with pytest.raises(InputError, match=r"row demonstration-0 has \d+ tokens, the model's context is 100"):
        train_supervised(_new(small), rows, OPTIONS, tmp_path, "d")
    with pytest.raises(InputError, match=r"row demonstration-0 has \d+ tokens, more than tokens_per_pack"):
        train_supervised(
            _new(tiny_shape), rows, OPTIONS.model_copy(update={"tokens_per_pack": 99}), tmp_path, "d"
        )


def test_the_rate_warms_up_and_falls_to_its_last_fraction() -> None:
    cosine = Schedule(shape="cosine", peak=1.0, warmup_steps=4, final_fraction=0.1)
    rates = [learning_rate(cosine, step, 20) for step in range(20)]
    assert rates[:5] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert rates[4:] == sorted(rates[4:], reverse=True)
    assert rates[-1] == pytest.approx(0.1)
    constant = Schedule(shape="constant", peak=1.0, warmup_steps=0)
    assert [learning_rate(constant, step, 3) for step in range(3)] == [1.0, 1.0, 1.0]


def test_a_saved_model_loads_as_any_causal_model(tmp_path: Path, tiny_shape: ModelShape) -> None:
    model = _new(tiny_shape)
    model.save_pretrained(tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path)
    ids = torch.tensor([[1, 2, 3]])
    assert torch.equal(loaded(input_ids=ids).logits, model.eval()(input_ids=ids).logits)
    assert loaded.lm_head.weight is loaded.model.embed_tokens.weight
    assert loaded.dtype == torch.float32
    assert torch.equal(load_model(tmp_path)(input_ids=ids).logits, loaded(input_ids=ids).logits)


def test_a_new_model_depends_on_its_seed_alone(tiny_shape: ModelShape) -> None:
    torch.manual_seed(3)
    state = torch.get_rng_state()
    first = _weights(_new(tiny_shape))
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(4)
    assert all(torch.equal(w, first[n]) for n, w in _weights(_new(tiny_shape)).items())
    other = _weights(new_model(tiny_shape, VOCABULARY, seed=2))
    assert not torch.equal(other["model.embed_tokens.weight"], first["model.embed_tokens.weight"])


def test_a_shape_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="hidden 190 must be an even multiple of heads 6"):
        ModelShape(hidden=190)
    with pytest.raises(ValueError, match="heads 6 must be a multiple of kv_heads 4"):
        ModelShape(kv_heads=4)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no model"):
        load_model(tmp_path)
