"""From rows of rollouts to packs ready for `grpo_loss`, and the gradient over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional
from transformers import Qwen2ForCausalLM

from .attention import learnt_logits
from .grpo import (
    GrpoInputs,
    GrpoLoss,
    GrpoOptions,
    Rollout,
    group_advantages,
    grpo_loss,
    rollout_weight,
)
from .gradient_workers import GradientWorkers, split_evenly
from .packing import PackedRows, pack_families, plan_packs
from .rows import Reinforcement, TrainingRow
from .sharing import Family, plan_families
from .strict import InputError


@dataclass(frozen=True)
class GrpoPack:
    """N learnt tokens; see GrpoInputs."""

    rows: PackedRows
    sampler_logprobs: Tensor
    """[N], like the others"""
    advantages: Tensor
    weights: Tensor


@dataclass(frozen=True)
class GrpoBatch:
    packs: tuple[GrpoPack, ...]
    """Empty: nothing to learn from; the step is left out, and the counts say why."""
    tokens: int
    """Of the rows in the gradient, whatever they share."""
    rollouts: int
    """In the gradient."""
    excluded: Mapping[str, int]
    """Reason → rollouts."""
    groups: int
    """Without stale ones."""
    zero_variance_groups: int
    rewards: tuple[float, ...]
    """Of every rewarded rollout that is not stale, whether it is in the gradient or not."""
    staleness: tuple[int, ...]
    """Of every rollout in the file: versions between the one that sampled it and `current_version`."""


def prepare_batch(
    rows: Sequence[TrainingRow],
    options: GrpoOptions,
    tokens_per_pack: int,
    oldest_version: int = 0,
    *,
    current_version: int | None = None,
    context: int | None = None,
    share: bool = False,
) -> GrpoBatch:
    """Advantages over groups, then packs of the rows that are in the gradient.

    Args:
        oldest_version: groups of a policy version below it are stale and left out.
        current_version: of the weights that learn; none can be younger. None: the youngest in `rows`.
        context: most tokens that the model takes.
        share: compute common beginnings of rows once (`attention.can_share`).

    Raises:
        InputError: rows without `reinforcement`, rows of a rollout that disagree, or a version that never was.
    """
    by_rollout = _by_rollout(rows)
    versions = [_about(members[0]).policy_version for members in by_rollout.values()]
    current = max(versions, default=0) if current_version is None else current_version
    if versions and max(versions) > current:
        raise InputError(
            f"rows of policy version {max(versions)}, but the weights that learn are version {current}"
        )
    longest = min(tokens_per_pack, context or tokens_per_pack)
    fresh: list[Rollout] = []
    excluded: Counter[str] = Counter()
    for rollout, members in by_rollout.items():
        about = _about(members[0])
        if about.policy_version < oldest_version:
            excluded[f"policy version older than {oldest_version}"] += 1
            continue
        learnt = sum(member.learnt_tokens for member in members)
        problem: Literal["no_logprobs", "too_long"] | None = None
        if any(_about(member).logprobs is None for member in members):
            problem = "no_logprobs"
        elif any(len(member.ids) > longest for member in members):
            problem = "too_long"
        fresh.append(
            Rollout(rollout, about.group, about.reward, about.in_gradient, learnt, problem)
        )
    advantages = group_advantages(fresh, options.divide_by_deviation)
    excluded.update(advantages.excluded.values())
    count = len(advantages.by_rollout)
    weights = {
        rollout.id: rollout_weight(options, rollout.learnt_tokens, count)
        for rollout in fresh
        if rollout.id in advantages.by_rollout
    }
    used = [row for row in rows if row.learnt_tokens and _about(row).rollout in weights]
    plan = (
        plan_families(used, tokens_per_pack)
        if share
        else tuple(
            tuple(Family((index,), 0) for index in indices)
            for indices in plan_packs([len(row.ids) for row in used], tokens_per_pack)
        )
    )
    packs = tuple(
        _grpo_pack(used, families, advantages.by_rollout, weights) for families in plan
    )
    return GrpoBatch(
        packs=packs,
        tokens=sum(len(row.ids) for row in used),
        rollouts=count,
        excluded=excluded,
        groups=advantages.groups,
        zero_variance_groups=advantages.zero_variance_groups,
        rewards=tuple(rollout.reward for rollout in fresh if rollout.reward is not None),
        staleness=tuple(current - version for version in versions),
    )


@dataclass(frozen=True)
class PackResult:
    loss: GrpoLoss
    logprobs: Tensor
    """float32 [N], without gradient: of the weights before the step."""
    entropy: float
    """Summed over the N places, in nats."""


@dataclass(frozen=True)
class _Part:
    """Of a batch, for one process."""

    packs: tuple[GrpoPack, ...]
    old: tuple[Tensor, ...] | None
    options: GrpoOptions


def add_gradient(
    workers: GradientWorkers,
    batch: GrpoBatch,
    options: GrpoOptions,
    old: Sequence[Tensor] | None = None,
) -> tuple[PackResult, ...]:
    """Adds the gradient of the whole batch to the weights' `.grad`. One result per pack; losses add up.

    old: per pack the `logprobs` of the first call on this batch; None: this is the first one.
    """
    if not batch.packs:
        return ()
    shared = split_evenly([part.rows.tokens for part in batch.packs], workers.count)
    parts = [
        _Part(
            tuple(batch.packs[at] for at in indices),
            None if old is None else tuple(old[at] for at in indices),
            options,
        )
        for indices in shared
    ]
    by_index: dict[int, PackResult] = {}
    for indices, results in zip(shared, workers.add_gradients(_add_part, parts), strict=True):
        by_index |= dict(zip(indices, results, strict=True))
    return tuple(by_index[at] for at in range(len(batch.packs)))


def _add_part(model: Qwen2ForCausalLM, part: _Part) -> tuple[PackResult, ...]:
    results: list[PackResult] = []
    for index, packed in enumerate(part.packs):
        logits = learnt_logits(model, packed.rows)
        chosen = packed.rows.ids[packed.rows.loss_mask]
        logprobs = -functional.cross_entropy(logits, chosen, reduction="none")
        inputs = GrpoInputs(
            logprobs=logprobs,
            old_logprobs=logprobs.detach() if part.old is None else part.old[index],
            sampler_logprobs=packed.sampler_logprobs,
            advantages=packed.advantages,
            weights=packed.weights,
            mask=torch.ones_like(chosen, dtype=torch.bool),
        )
        loss = grpo_loss(inputs, part.options)
        torch.autograd.backward(loss.loss)
        told = replace(loss, loss=loss.loss.detach())
        results.append(PackResult(told, logprobs.detach(), _entropy(logits.detach())))
    return tuple(results)


def _entropy(logits: Tensor) -> float:
    distribution = logits.log_softmax(-1)
    return float(-(distribution.exp() * distribution).sum())


def _grpo_pack(
    rows: Sequence[TrainingRow],
    families: Sequence[Family],
    advantages: Mapping[str, float],
    weights: Mapping[str, float],
) -> GrpoPack:
    packed = pack_families(rows, families)
    members = [rows[index] for family in families for index in family.rows]
    abouts = [_about(row) for row in members]
    of_row = packed.row_of_token[packed.loss_mask]
    logprobs = [
        value
        for row, about in zip(members, abouts, strict=True)
        for value, learnt in zip(about.logprobs or (), row.loss_mask, strict=True)
        if learnt == 1
    ]
    return GrpoPack(
        rows=packed,
        sampler_logprobs=torch.tensor(logprobs),
        advantages=torch.tensor([advantages[about.rollout] for about in abouts])[of_row],
        weights=torch.tensor([weights[about.rollout] for about in abouts])[of_row],
    )


def _by_rollout(rows: Sequence[TrainingRow]) -> Mapping[str, list[TrainingRow]]:
    by_rollout: dict[str, list[TrainingRow]] = {}
    for row in rows:
        about = _about(row)
        members = by_rollout.setdefault(about.rollout, [])
        if members and _key(_about(members[0])) != _key(about):
            raise InputError(
                f"rows {members[0].id} and {row.id} of rollout {about.rollout} disagree about group, "
                "policy_version, reward or in_gradient"
            )
        members.append(row)
    versions: dict[str, int] = {}
    for members in by_rollout.values():
        about = _about(members[0])
        if versions.setdefault(about.group, about.policy_version) != about.policy_version:
            raise InputError(f"group {about.group} mixes policy versions; a group has one")
    return by_rollout


def _key(about: Reinforcement) -> tuple[object, ...]:
    return (about.group, about.policy_version, about.reward, about.in_gradient)


def _about(row: TrainingRow) -> Reinforcement:
    if row.reinforcement is None:
        raise InputError(f"row {row.id} has no reinforcement part (group, rollout, reward …)")
    return row.reinforcement
