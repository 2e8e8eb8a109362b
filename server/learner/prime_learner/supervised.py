"""Warm start: supervised training on demonstrations, resumable to the bit on the CPU."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from pydantic import Field
from safetensors.torch import load_model as load_weights
from safetensors.torch import save_model as save_weights
from torch import Tensor
from transformers import Qwen2ForCausalLM

from .attention import learnt_logprobs, use_packed_attention
from .checkpoint import Checkpoint, find_latest, remove_old, write_checkpoint
from .gradient_workers import GradientWorkers, split_evenly
from .json_line import json_line
from .metrics_file import cut_metrics
from .optimizer import OptimizerOptions, Optimizers, apply_step, new_optimizer
from .packing import PackedRows, pack, plan_packs, rows_of_step
from .rows import TrainingRow
from .schedule import Schedule, learning_rate
from .strict import InputError, Strict, parse_json


class SupervisedOptions(Strict):
    steps: int = Field(gt=0)
    rows_per_step: int = Field(default=16, gt=0)
    tokens_per_pack: int = Field(default=8192, gt=0)
    """Bounds memory; the gradient of a step is the same however its rows are cut into packs."""
    seed: int = Field(default=0, ge=0)
    schedule: Schedule = Schedule()
    optimizer: OptimizerOptions = OptimizerOptions()
    checkpoint_every: int = Field(default=200, gt=0)
    keep_checkpoints: int = Field(default=2, gt=0)
    stop_after_skipped: int = Field(default=10, gt=0)
    """So many non-finite steps in a row end the run with an error."""


# Changing these between two starts of a run changes nothing in its result.
_FREE = ("checkpoint_every", "keep_checkpoints", "stop_after_skipped")


@dataclass(frozen=True)
class StepMetrics:
    """One line of metrics.jsonl."""

    step: int
    """Steps done, from 1."""
    loss: float
    """Mean over the learnt tokens of the step, in nats."""
    rate: float
    gradient_norm: float
    skipped: bool
    skipped_so_far: int
    tokens: int
    learnt_tokens: int
    tokens_per_second: float
    epoch: int


@dataclass(frozen=True)
class SupervisedResult:
    steps: int
    finished: bool
    """False: `should_stop` said so; the checkpoint holds all."""
    resumed_from: int
    skipped_steps: int
    last: StepMetrics | None
    tokens_per_second: float
    """Over the steps of this start."""


class _SavedState(Strict):
    step: int
    skipped_steps: int
    skipped_in_a_row: int
    options: dict[str, object]
    data: str


@dataclass(frozen=True)
class _Progress:
    step: int = 0
    skipped_steps: int = 0
    skipped_in_a_row: int = 0


def supervised_loss(model: Qwen2ForCausalLM, packed: PackedRows, learnt_tokens: int) -> Tensor:
    """Scalar: minus the summed log-probability of the learnt tokens over `learnt_tokens` of the step.

    Packs of one step add up to the mean over the step, however the rows are cut.
    """
    return -learnt_logprobs(model, packed).sum() / learnt_tokens


@dataclass(frozen=True)
class SupervisedPart:
    """Of a step, for one process."""

    rows: list[TrainingRow]
    learnt_tokens: int
    """Of the whole step."""
    tokens_per_pack: int


def add_supervised_gradient(model: Qwen2ForCausalLM, part: SupervisedPart) -> float:
    loss = 0.0
    for indices in plan_packs([len(row.ids) for row in part.rows], part.tokens_per_pack):
        packed = pack([part.rows[index] for index in indices])
        term = supervised_loss(model, packed, part.learnt_tokens)
        torch.autograd.backward(term)
        loss += term.item()
    return loss


def train_supervised(
    model: Qwen2ForCausalLM,
    rows: Sequence[TrainingRow],
    options: SupervisedOptions,
    folder: Path,
    data_hash: str,
    on_step: Callable[[StepMetrics], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    processes: int = 1,
) -> SupervisedResult:
    """Trains `model` in place; goes on from the newest whole checkpoint in `folder`.

    Args:
        data_hash: sha256 of what the rows and the first weights were made from; a run goes on only with the same.
        on_note: one line about something unusual (damaged checkpoint, skipped step).
        should_stop: asked after each step; when true a checkpoint is written and the result says so.
        processes: that share the work of a step (gradient_workers.py); another number gives other roundings.

    Raises:
        InputError: the folder belongs to a run with other options or data, or the loss stays non-finite.
    """
    _check_lengths(rows, options.tokens_per_pack, model.config.max_position_embeddings)
    use_packed_attention(model)
    model.train()
    optimizer = new_optimizer(model, options.optimizer)
    checkpoints = folder / "checkpoints"
    found = find_latest(checkpoints)
    for damaged in found.damaged:
        on_note(f"checkpoint not used: {damaged}")
    progress = _Progress()
    torch.manual_seed(options.seed)
    if found.latest is not None:
        progress = _restore(found.latest, model, optimizer, options, data_hash)
    resumed_from = progress.step
    metrics_path = folder / "metrics.jsonl"
    cut_metrics(metrics_path, resumed_from)

    last: StepMetrics | None = None
    tokens, began = 0, time.perf_counter()
    stopped = False
    with (
        metrics_path.open("a", encoding="utf-8") as metrics_file,
        GradientWorkers(model, processes, use_packed_attention) as workers,
    ):
        while progress.step < options.steps and not stopped:
            last, progress = _one_step(model, workers, optimizer, rows, options, progress)
            tokens += last.tokens
            metrics_file.write(json_line(asdict(last)))
            metrics_file.flush()
            on_step(last)
            if last.skipped:
                on_note(f"step {last.step} skipped: loss or gradient is not finite")
            if progress.skipped_in_a_row >= options.stop_after_skipped:
                raise InputError(
                    f"{progress.skipped_in_a_row} steps in a row were not finite (the last is step "
                    f"{last.step}): lower schedule.peak or look at the rows"
                )
            stopped = should_stop()
            at_end = progress.step == options.steps or stopped
            if at_end or progress.step % options.checkpoint_every == 0:
                os.fsync(metrics_file.fileno())
                _save(checkpoints, model, optimizer, options, data_hash, progress)
                remove_old(checkpoints, options.keep_checkpoints)
    seconds = time.perf_counter() - began
    return SupervisedResult(
        steps=progress.step,
        finished=progress.step == options.steps,
        resumed_from=resumed_from,
        skipped_steps=progress.skipped_steps,
        last=last,
        tokens_per_second=tokens / seconds if tokens else 0.0,
    )


def _one_step(
    model: Qwen2ForCausalLM,
    workers: GradientWorkers,
    optimizer: Optimizers,
    rows: Sequence[TrainingRow],
    options: SupervisedOptions,
    progress: _Progress,
) -> tuple[StepMetrics, _Progress]:
    began = time.perf_counter()
    step = progress.step
    chosen = [
        rows[index] for index in rows_of_step(step, options.rows_per_step, len(rows), options.seed)
    ]
    learnt = sum(row.learnt_tokens for row in chosen)
    parts = [
        SupervisedPart([chosen[at] for at in indices], learnt, options.tokens_per_pack)
        for indices in split_evenly([len(row.ids) for row in chosen], workers.count)
    ]
    loss = sum(workers.add_gradients(add_supervised_gradient, parts))
    rate = learning_rate(options.schedule, step, options.steps)
    result = apply_step(model, optimizer, rate, options.optimizer.clip_norm, loss)
    tokens = sum(len(row.ids) for row in chosen)
    after = _Progress(
        step=step + 1,
        skipped_steps=progress.skipped_steps + int(result.skipped),
        skipped_in_a_row=progress.skipped_in_a_row + 1 if result.skipped else 0,
    )
    metrics = StepMetrics(
        step=after.step,
        loss=loss,
        rate=rate,
        gradient_norm=result.gradient_norm,
        skipped=result.skipped,
        skipped_so_far=after.skipped_steps,
        tokens=tokens,
        learnt_tokens=learnt,
        tokens_per_second=tokens / (time.perf_counter() - began),
        epoch=step * options.rows_per_step // len(rows),
    )
    return metrics, after


def _check_lengths(rows: Sequence[TrainingRow], capacity: int, context: int) -> None:
    for row in rows:
        if len(row.ids) > context:
            raise InputError(f"row {row.id} has {len(row.ids)} tokens, the model's context is {context}")
        if len(row.ids) > capacity:
            raise InputError(
                f"row {row.id} has {len(row.ids)} tokens, more than tokens_per_pack ({capacity})"
            )


def _save(
    checkpoints: Path,
    model: Qwen2ForCausalLM,
    optimizer: Optimizers,
    options: SupervisedOptions,
    data_hash: str,
    progress: _Progress,
) -> None:
    state = _SavedState(
        **asdict(progress), options=options.model_dump(mode="json"), data=data_hash
    )

    def write(folder: Path) -> None:
        save_weights(model, str(folder / "model.safetensors"))
        torch.save(
            {"optimizer": optimizer.state_dict(), "rng": torch.get_rng_state()}, folder / "state.pt"
        )
        (folder / "state.json").write_text(state.model_dump_json(indent=1) + "\n", "utf-8")

    write_checkpoint(checkpoints, progress.step, write)


def _restore(
    checkpoint: Checkpoint,
    model: Qwen2ForCausalLM,
    optimizer: Optimizers,
    options: SupervisedOptions,
    data_hash: str,
) -> _Progress:
    path = checkpoint.folder / "state.json"
    state = parse_json(_SavedState, path.read_bytes(), str(path))
    advice = "give the options and data of that run, or another folder"
    if state.data != data_hash:
        raise InputError(f"{checkpoint.folder} was made from other data or first weights: {advice}")
    # A constant rate does not depend on the end, so such a run may be prolonged.
    free = (*_FREE, "steps") if options.schedule.shape == "constant" else _FREE
    for name, now in options.model_dump(mode="json").items():
        if name not in free and state.options.get(name) != now:
            raise InputError(
                f"{checkpoint.folder} was made with {name} = {state.options.get(name)}, now it is {now}: {advice}"
            )
    load_weights(model, checkpoint.folder / "model.safetensors")
    saved = torch.load(checkpoint.folder / "state.pt", weights_only=True)
    optimizer.load_state_dict(saved["optimizer"])
    torch.set_rng_state(saved["rng"])
    return _Progress(state.step, state.skipped_steps, state.skipped_in_a_row)
