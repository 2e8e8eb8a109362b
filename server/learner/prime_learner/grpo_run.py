"""The GRPO training run: one step per file of rows, a new policy version after each, resumable exactly.

What a step does to the weights is a pure function of the weights, the optimiser's state, the version
and the rows. All of it but the rows is in the checkpoint that is written before a step is answered, so
a step that was lost with the process is done again with the same bits, and one that was not lost is
recognised when its file comes again.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import torch
from pydantic import Field
from safetensors.torch import load_model as load_weights
from safetensors.torch import save_model as save_weights
from torch import Tensor
from transformers import Qwen2ForCausalLM

from .attention import can_share, use_packed_attention
from .checkpoint import Checkpoint, find_latest, remove_old, write_checkpoint
from .grpo import GrpoLoss, GrpoOptions, Mismatch, mismatch
from .grpo_batch import GrpoBatch, PackResult, add_gradient, prepare_batch
from .gradient_workers import GradientWorkers, split_evenly
from .json_line import json_line
from .metrics_file import cut_metrics
from .optimizer import OptimizerOptions, Optimizers, StepResult, apply_step, new_optimizer
from .publish import Published, publish_version, remove_younger
from .rows import TrainingRow, read_rows
from .schedule import Schedule, learning_rate
from .strict import InputError, Strict, parse_json
from .supervised import SupervisedPart, add_supervised_gradient


class HaltOptions(Strict):
    """Thresholds that end the run before the step that would cross them is taken."""

    entropy_below: float | None = Field(default=None, ge=0)
    """Mean entropy of the policy over the learnt tokens, in nats."""
    mismatch_above: float | None = Field(default=None, gt=0)
    """KL(sampler ‖ trainer) per token, estimator k3, in nats."""


class GrpoTraining(Strict):
    rate: float = Field(default=3e-5, gt=0)
    """Constant after the warm-up."""
    warmup_steps: int = Field(default=0, ge=0)
    """Policy versions over which the rate rises."""
    epochs: int = Field(default=1, gt=0)
    """Optimiser steps on each file of rows. From the second on the ratio is not 1, and the clip acts."""
    optimizer: OptimizerOptions = OptimizerOptions(weight_decay=0.0)
    loss: GrpoOptions = GrpoOptions()
    max_staleness: int = Field(default=4, ge=0)
    """Rows of a policy version that is more than this behind are left out."""
    tokens_per_pack: int = Field(default=4096, gt=0)
    halt: HaltOptions = HaltOptions()
    seed: int = Field(default=0, ge=0)
    first_version: int = Field(default=0, ge=0)
    """Number of the weights that the run starts from."""
    keep_checkpoints: int = Field(default=2, gt=0)
    keep_published: int = Field(default=3, gt=0)
    stop_after_skipped: int = Field(default=10, gt=0)
    """So many non-finite steps in a row end the run with an error."""


# Changing these between two starts of a run changes nothing in what its steps give.
_FREE = ("halt", "keep_checkpoints", "keep_published", "stop_after_skipped")


class StepLine(Strict):
    kind: Literal["grpo", "supervised"] = "grpo"
    """supervised: rows without `reinforcement`; the same optimiser, rate and packs."""
    rows: Path
    policy_version: int = Field(ge=0)
    """Of the weights that this step is to change: what `ready` or the last `published` said."""


class _Saved(Strict):
    step: int
    policy_version: int
    skipped_steps: int
    skipped_in_a_row: int
    last: dict[str, object] | None
    """The answer to the last step, with the sha256 of its rows."""
    options: dict[str, object]
    start: str


@dataclass(frozen=True)
class _Progress:
    step: int
    """Files of rows that were worked off."""
    policy_version: int
    """Times that the weights changed, from the first version on."""
    skipped_steps: int = 0
    skipped_in_a_row: int = 0
    last: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Answer:
    event: Literal["step", "halted"]
    fields: Mapping[str, object]


@dataclass
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)
    _began: float = field(default_factory=time.perf_counter)

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + now - self._began, 4)
        self._began = now


@dataclass(frozen=True)
class _Update:
    """What one file of rows did to the weights."""

    metrics: Mapping[str, object]
    changed: bool
    skipped: bool
    halted: str | None = None


class GrpoRun:
    """Weights, optimiser and version between the steps. Made by `open_run`; `published` is the version."""

    def __init__(
        self,
        model: Qwen2ForCausalLM,
        workers: GradientWorkers,
        optimizer: Optimizers,
        options: GrpoTraining,
        folder: Path,
        publish: Path,
        start: str,
        progress: _Progress,
    ) -> None:
        self.model = model
        self.progress = progress
        self.resumed_from = progress.step
        self._workers = workers
        self._optimizer = optimizer
        self._options = options
        self._folder = folder
        self._publish = publish
        self._start = start
        self.published = self._published()

    def step(self, line: StepLine) -> Answer:
        """Works off one file of rows; returns when the checkpoint is on disk and the version published.

        Raises:
            InputError: rows that cannot be used, another version than the present one, or too many
                steps in a row that were not finite. The checkpoint is still that of the last step.
        """
        sha256 = _sha256(line.rows)
        last = self.progress.last
        if last is not None and (last["rows_sha256"], last["policy_version"], last["kind"]) == (
            sha256, line.policy_version, line.kind,
        ):
            # Its answer was lost with a process, and the caller asks again.
            return Answer("step", {**last, "repeated": True})
        if line.policy_version != self.progress.policy_version:
            raise InputError(
                f"the step is for policy version {line.policy_version}, but the weights are version "
                f"{self.progress.policy_version}: sample from that one"
            )
        began, clock = time.perf_counter(), _Clock()
        rows = read_rows(line.rows, self.model.config.vocab_size)
        clock.lap("read")
        update = self._grpo(rows, clock) if line.kind == "grpo" else self._supervised(rows, clock)
        if update.halted is not None:
            return Answer("halted", {"reason": update.halted, **update.metrics})
        fields = self._advance(line, sha256, update, clock, began)
        self._save(clock, fields)
        self.published = self._published()
        clock.lap("publish")
        if self.progress.skipped_in_a_row >= self._options.stop_after_skipped:
            raise InputError(
                f"{self.progress.skipped_in_a_row} steps in a row were not finite (the last is step "
                f"{self.progress.step}): lower the rate or look at the rows"
            )
        return Answer("step", {**fields, "seconds": clock.seconds, "repeated": False})

    def close(self) -> None:
        """Ends the other processes of the run."""
        self._workers.close()

    def _published(self) -> Published:
        version, keep = self.progress.policy_version, self._options.keep_published
        return publish_version(self.model, self._publish, version, keep)

    def _grpo(self, rows: Sequence[TrainingRow], clock: _Clock) -> _Update:
        options, version = self._options, self.progress.policy_version
        batch = prepare_batch(
            rows,
            options.loss,
            options.tokens_per_pack,
            oldest_version=max(0, version - options.max_staleness),
            current_version=version,
            context=self.model.config.max_position_embeddings,
            share=can_share(self.model),
        )
        clock.lap("prepare")
        metrics = _about(batch)
        if not batch.packs:
            return _Update(metrics, changed=False, skipped=False)
        old: list[Tensor] | None = None
        changed = False
        done: StepResult | None = None
        results: tuple[PackResult, ...] = ()
        for _ in range(options.epochs):
            results = add_gradient(self._workers, batch, options.loss, old)
            clock.lap("gradient")
            if old is None:
                old = [result.logprobs for result in results]
                before = _before(batch, results)
                metrics |= before
                halted = _halted(before, options.halt)
                if halted is not None:
                    self.model.zero_grad(set_to_none=True)
                    return _Update(metrics, changed=False, skipped=False, halted=halted)
            done = self._apply(math.fsum(result.loss.loss.item() for result in results))
            clock.lap("optimizer")
            if done.skipped:
                break
            changed = True
        assert done is not None
        metrics |= _of_losses([result.loss for result in results])
        metrics |= {"gradient_norm": done.gradient_norm}
        return _Update(metrics, changed, done.skipped)

    def _supervised(self, rows: Sequence[TrainingRow], clock: _Clock) -> _Update:
        capacity = self._options.tokens_per_pack
        for row in rows:
            if row.reinforcement is not None:
                raise InputError(
                    f"row {row.id} has a reinforcement part, which a supervised step would not use"
                )
            if len(row.ids) > self.model.config.max_position_embeddings:
                raise InputError(f"row {row.id} has {len(row.ids)} tokens, more than the model takes")
        learnt = sum(row.learnt_tokens for row in rows)
        parts = [
            SupervisedPart([rows[at] for at in indices], learnt, capacity)
            for indices in split_evenly([len(row.ids) for row in rows], self._workers.count)
        ]
        clock.lap("prepare")
        changed = False
        loss = 0.0
        done: StepResult | None = None
        for _ in range(self._options.epochs):
            loss = sum(self._workers.add_gradients(add_supervised_gradient, parts))
            clock.lap("gradient")
            done = self._apply(loss)
            clock.lap("optimizer")
            if done.skipped:
                break
            changed = True
        assert done is not None
        metrics: dict[str, object] = {
            "rows": len(rows),
            "tokens": sum(len(row.ids) for row in rows),
            "learnt_tokens": learnt,
            "loss": loss,
            "gradient_norm": done.gradient_norm,
        }
        return _Update(metrics, changed, done.skipped)

    def _rate(self) -> float:
        schedule = Schedule(
            shape="constant", peak=self._options.rate, warmup_steps=self._options.warmup_steps
        )
        return learning_rate(schedule, self.progress.policy_version - self._options.first_version, 0)

    def _apply(self, loss: float) -> StepResult:
        clip = self._options.optimizer.clip_norm
        return apply_step(self.model, self._optimizer, self._rate(), clip, loss)

    def _advance(
        self, line: StepLine, sha256: str, update: _Update, clock: _Clock, began: float
    ) -> dict[str, object]:
        tokens = update.metrics["tokens"]
        assert isinstance(tokens, int)
        before = self.progress
        fields: dict[str, object] = {
            "step": before.step + 1,
            "kind": line.kind,
            "policy_version": line.policy_version,
            "new_policy_version": before.policy_version + int(update.changed),
            "updated": update.changed,
            "skipped": update.skipped,
            "skipped_so_far": before.skipped_steps + int(update.skipped),
            "rate": self._rate(),
            **update.metrics,
            "tokens_per_second": tokens * self._options.epochs / (time.perf_counter() - began),
            "seconds": dict(clock.seconds),
            "rows_sha256": sha256,
        }
        # As it is written: numbers that are not finite become null.
        last: dict[str, object] = json.loads(json_line(fields))
        self.progress = _Progress(
            step=before.step + 1,
            policy_version=before.policy_version + int(update.changed),
            skipped_steps=before.skipped_steps + int(update.skipped),
            skipped_in_a_row=before.skipped_in_a_row + 1 if update.skipped else 0,
            last=last,
        )
        return fields

    def _save(self, clock: _Clock, fields: Mapping[str, object]) -> None:
        with (self._folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json_line(fields))
        saved = _Saved(
            **{**asdict(self.progress), "last": self.progress.last},
            options=self._options.model_dump(mode="json"),
            start=self._start,
        )

        def write(new: Path) -> None:
            save_weights(self.model, str(new / "model.safetensors"))
            state = {"optimizer": self._optimizer.state_dict(), "rng": torch.get_rng_state()}
            torch.save(state, new / "state.pt")
            (new / "state.json").write_text(saved.model_dump_json(indent=1) + "\n", "utf-8")

        checkpoints = self._folder / "checkpoints"
        write_checkpoint(checkpoints, self.progress.step, write)
        remove_old(checkpoints, self._options.keep_checkpoints)
        clock.lap("checkpoint")


def open_run(
    model: Qwen2ForCausalLM,
    options: GrpoTraining,
    folder: Path,
    publish: Path,
    start: str,
    on_note: Callable[[str], None] = lambda _: None,
    processes: int = 1,
) -> GrpoRun:
    """Goes on from the newest whole checkpoint in `folder`, else from `model`; the present version is
    published when it returns.

    Args:
        start: sha256 of the first weights; a run goes on only with the same.
        processes: that share the work of a step (gradient_workers.py); another number gives other roundings.

    Raises:
        InputError: the folder belongs to a run with other options or first weights.
    """
    use_packed_attention(model)
    model.train()
    optimizer = new_optimizer(model, options.optimizer)
    found = find_latest(folder / "checkpoints")
    for damaged in found.damaged:
        on_note(f"checkpoint not used: {damaged}")
    torch.manual_seed(options.seed)
    progress = _Progress(step=0, policy_version=options.first_version)
    if found.latest is not None:
        progress = _restore(found.latest, model, optimizer, options, start)
    cut_metrics(folder / "metrics.jsonl", progress.step)
    remove_younger(publish, progress.policy_version)
    workers = GradientWorkers(model, processes, use_packed_attention)
    return GrpoRun(model, workers, optimizer, options, folder, publish, start, progress)


def _restore(
    checkpoint: Checkpoint,
    model: Qwen2ForCausalLM,
    optimizer: Optimizers,
    options: GrpoTraining,
    start: str,
) -> _Progress:
    path = checkpoint.folder / "state.json"
    saved = parse_json(_Saved, path.read_bytes(), str(path))
    advice = "give the options and the model of that run, or another folder"
    if saved.start != start:
        raise InputError(f"{checkpoint.folder} was made from other first weights: {advice}")
    for name, now in options.model_dump(mode="json").items():
        if name not in _FREE and saved.options.get(name) != now:
            raise InputError(
                f"{checkpoint.folder} was made with {name} = {saved.options.get(name)}, now it is {now}: {advice}"
            )
    load_weights(model, checkpoint.folder / "model.safetensors")
    state = torch.load(checkpoint.folder / "state.pt", weights_only=True)
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["rng"])
    return _Progress(
        step=saved.step,
        policy_version=saved.policy_version,
        skipped_steps=saved.skipped_steps,
        skipped_in_a_row=saved.skipped_in_a_row,
        last=saved.last,
    )


def _about(batch: GrpoBatch) -> dict[str, object]:
    rewards, staleness = batch.rewards, batch.staleness
    return {
        "rollouts": len(staleness),
        "rollouts_in_gradient": batch.rollouts,
        "solved_rate": _mean([float(reward >= 1) for reward in rewards]),
        "reward_mean": _mean(rewards),
        "groups": batch.groups,
        "zero_variance_groups": batch.zero_variance_groups,
        "zero_variance_share": batch.zero_variance_groups / batch.groups if batch.groups else 0.0,
        "excluded": dict(sorted(batch.excluded.items())),
        "staleness_mean": _mean(staleness),
        "staleness_max": max(staleness, default=0),
        "tokens": batch.tokens,
        "computed_tokens": sum(part.rows.tokens for part in batch.packs),
        "learnt_tokens": sum(part.sampler_logprobs.numel() for part in batch.packs),
    }


def _before(batch: GrpoBatch, results: Sequence[PackResult]) -> dict[str, object]:
    """Of the weights as they were when the step began."""
    tokens = sum(result.logprobs.numel() for result in results)
    apart: Mismatch = mismatch(
        torch.cat([result.logprobs for result in results]),
        torch.cat([part.sampler_logprobs for part in batch.packs]),
    )
    return {
        "entropy": math.fsum(result.entropy for result in results) / tokens,
        "mismatch_kl_k3": apart.kl_k3,
        "mismatch_kl_k1": apart.kl_k1,
        "max_logprob_difference": apart.max_difference,
    }


def _halted(before: Mapping[str, object], options: HaltOptions) -> str | None:
    """A sentence; None: go on."""
    entropy, apart = before["entropy"], before["mismatch_kl_k3"]
    assert isinstance(entropy, float)
    assert isinstance(apart, float)
    if options.entropy_below is not None and entropy < options.entropy_below:
        return f"entropy {entropy:.4g} is below halt.entropy_below ({options.entropy_below:g})"
    if options.mismatch_above is not None and apart > options.mismatch_above:
        return (
            f"mismatch of sampler and trainer {apart:.4g} is above halt.mismatch_above "
            f"({options.mismatch_above:g})"
        )
    return None


def _of_losses(losses: Sequence[GrpoLoss]) -> dict[str, object]:
    """Of the last epoch, over the learnt tokens of all packs."""
    tokens = sum(loss.tokens for loss in losses)

    def mean(of: Callable[[GrpoLoss], float]) -> float:
        return math.fsum(of(loss) * loss.tokens for loss in losses) / tokens

    return {
        "loss": math.fsum(loss.loss.item() for loss in losses),
        "ratio_mean": mean(lambda loss: loss.mean_ratio),
        "ratio_max": max(loss.max_ratio for loss in losses),
        "clipped_low": mean(lambda loss: loss.clipped_low),
        "clipped_high": mean(lambda loss: loss.clipped_high),
        "importance_mean": mean(lambda loss: loss.mean_importance),
        "importance_capped": mean(lambda loss: loss.capped),
    }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
