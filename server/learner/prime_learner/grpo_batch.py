"""From rows of rollouts to packs ready for `grpo_loss`, and the gradient over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import Qwen2ForCausalLM

from .attention import packed_logits, token_logprobs
from .grpo import (
    GrpoInputs,
    GrpoLoss,
    GrpoOptions,
    Rollout,
    group_advantages,
    grpo_loss,
    rollout_weight,
)
from .packing import PackedRows, pack, plan_packs
from .rows import Reinforcement, TrainingRow
from .strict import InputError


@dataclass(frozen=True)
class GrpoPack:
    """All [T]; see GrpoInputs."""

    rows: PackedRows
    sampler_logprobs: Tensor
    advantages: Tensor
    weights: Tensor


@dataclass(frozen=True)
class GrpoBatch:
    packs: tuple[GrpoPack, ...]
    """Empty: nothing to learn from; the step is left out, and the counts say why."""
    rollouts: int
    """In the gradient."""
    excluded: Mapping[str, int]
    """Reason → rollouts."""
    groups: int
    zero_variance_groups: int


def prepare_batch(
    rows: Sequence[TrainingRow],
    options: GrpoOptions,
    tokens_per_pack: int,
    oldest_version: int = 0,
) -> GrpoBatch:
    """Advantages over groups, then packs of the rows that are in the gradient.

    Args:
        oldest_version: groups of a policy version below it are stale and left out.

    Raises:
        InputError: rows without `reinforcement`, rows of a rollout that disagree, or a row that does not fit.
    """
    by_rollout = _by_rollout(rows)
    fresh: list[Rollout] = []
    excluded: Counter[str] = Counter()
    for rollout, members in by_rollout.items():
        about = _about(members[0])
        if about.policy_version < oldest_version:
            excluded[f"policy version older than {oldest_version}"] += 1
            continue
        learnt = sum(member.learnt_tokens for member in members)
        fresh.append(Rollout(rollout, about.group, about.reward, about.in_gradient, learnt))
    advantages = group_advantages(fresh, options.divide_by_deviation)
    excluded.update(advantages.excluded.values())
    count = len(advantages.by_rollout)
    weights = {
        rollout.id: rollout_weight(options, rollout.learnt_tokens, count)
        for rollout in fresh
        if rollout.id in advantages.by_rollout
    }
    used = [row for row in rows if row.learnt_tokens and _about(row).rollout in weights]
    packs = tuple(
        _grpo_pack([used[index] for index in indices], advantages.by_rollout, weights)
        for indices in plan_packs([len(row.ids) for row in used], tokens_per_pack)
    )
    return GrpoBatch(packs, count, excluded, advantages.groups, advantages.zero_variance_groups)


def current_logprobs(model: Qwen2ForCausalLM, packed: PackedRows) -> Tensor:
    """float [T]; with gradient where the caller records one. `model` takes packs."""
    return token_logprobs(packed_logits(model, packed), packed)


def add_gradient(
    model: Qwen2ForCausalLM, batch: GrpoBatch, old: Sequence[Tensor], options: GrpoOptions
) -> tuple[GrpoLoss, ...]:
    """Adds the gradient of the whole batch to the weights' `.grad`. One result per pack; losses add up.

    old: per pack `current_logprobs` before the first step on this batch, without gradient.
    """
    results: list[GrpoLoss] = []
    for part, old_logprobs in zip(batch.packs, old, strict=True):
        inputs = GrpoInputs(
            logprobs=current_logprobs(model, part.rows),
            old_logprobs=old_logprobs,
            sampler_logprobs=part.sampler_logprobs,
            advantages=part.advantages,
            weights=part.weights,
            mask=part.rows.loss_mask,
        )
        result = grpo_loss(inputs, options)
        torch.autograd.backward(result.loss)
        results.append(result)
    return tuple(results)


def _grpo_pack(
    rows: Sequence[TrainingRow], advantages: Mapping[str, float], weights: Mapping[str, float]
) -> GrpoPack:
    packed = pack(rows)
    abouts = [_about(row) for row in rows]
    of_row = packed.row_of_token
    return GrpoPack(
        rows=packed,
        sampler_logprobs=torch.tensor([value for about in abouts for value in about.logprobs]),
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
