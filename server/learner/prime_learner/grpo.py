"""GRPO: advantages and loss as pure functions. R rollouts, T tokens of packed rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor

from .strict import Strict


class GrpoOptions(Strict):
    clip_low: float = Field(default=0.2, gt=0, lt=1)
    clip_high: float = Field(default=0.28, gt=0)
    importance_cap: float = Field(default=2.0, gt=0)
    """Most that one token counts for because the trainer finds it likelier than the sampler did."""
    divide_by_deviation: bool = False
    normalisation: Literal["rollout", "constant"] = "rollout"
    """rollout: each rollout counts the same, whatever its length; constant: each token does."""
    constant_tokens: int | None = Field(default=None, gt=0)
    """For `constant`: what a rollout's sum is divided by."""

    @model_validator(mode="after")
    def _constant_given(self) -> GrpoOptions:
        if (self.normalisation == "constant") != (self.constant_tokens is not None):
            raise ValueError("constant_tokens goes with normalisation constant, and only with it")
        return self


@dataclass(frozen=True)
class Rollout:
    id: str
    group: str
    reward: float | None
    """None: invalid, counts nowhere."""
    in_gradient: bool
    learnt_tokens: int
    problem: Literal["no_logprobs", "too_long"] | None = None
    """Why it can only count in the group's mean."""


@dataclass(frozen=True)
class Advantages:
    by_rollout: Mapping[str, float]
    """Only rollouts that go into the gradient."""
    excluded: Mapping[str, str]
    """Rollout → reason, one of the texts of `EXCLUSIONS`."""
    groups: int
    zero_variance_groups: int


EXCLUSIONS = {
    "invalid": "no reward: the attempt was invalid",
    "no_logprobs": "no log-probabilities were recorded when its tokens were sampled",
    "too_long": "a row is longer than the model's context or than a pack",
    "mean_only": "counts in the group's mean only",
    "single": "the only rewarded attempt of its group",
    "zero_variance": "all rewards of its group are equal",
    "no_tokens": "no sampled tokens with log-probabilities",
}


def group_advantages(rollouts: Sequence[Rollout], divide_by_deviation: bool = False) -> Advantages:
    """Reward minus the mean of the rewarded attempts of the group.

    With `divide_by_deviation` also over their standard deviation (of the population). A group whose
    rewards are all equal teaches nothing: it is dropped and counted, never an error.
    """
    groups: dict[str, list[Rollout]] = {}
    for rollout in rollouts:
        groups.setdefault(rollout.group, []).append(rollout)
    advantages: dict[str, float] = {}
    excluded: dict[str, str] = {}
    zero_variance = 0
    for members in groups.values():
        rewards = [member.reward for member in members if member.reward is not None]
        equal = len(rewards) > 1 and min(rewards) == max(rewards)
        zero_variance += int(equal)
        mean = math.fsum(rewards) / len(rewards) if rewards else 0.0
        scale = _deviation(rewards, mean) if divide_by_deviation else 1.0
        for member in members:
            reason = _exclusion(member, len(rewards), equal)
            if reason is not None:
                excluded[member.id] = EXCLUSIONS[reason]
            elif member.reward is not None:
                advantages[member.id] = (member.reward - mean) / scale
    return Advantages(advantages, excluded, len(groups), zero_variance)


def _exclusion(rollout: Rollout, rewarded: int, equal: bool) -> str | None:
    if rollout.reward is None:
        return "invalid"
    if rollout.problem is not None:
        # First: it must not hide behind "all rewards are equal".
        return rollout.problem
    if rewarded == 1:
        return "single"
    if equal:
        return "zero_variance"
    if not rollout.in_gradient:
        return "mean_only"
    return "no_tokens" if rollout.learnt_tokens == 0 else None


def _deviation(rewards: Sequence[float], mean: float) -> float:
    if not rewards:
        return 1.0
    return math.sqrt(math.fsum((reward - mean) ** 2 for reward in rewards) / len(rewards)) or 1.0


def rollout_weight(options: GrpoOptions, learnt_tokens: int, rollouts: int) -> float:
    """Weight of each learnt token of a rollout, so that weighted sums over packs add up to the loss.

    learnt_tokens: of the rollout over all its rows; rollouts: in the gradient of the whole step.
    """
    length = learnt_tokens if options.constant_tokens is None else options.constant_tokens
    return 1.0 / (rollouts * length)


@dataclass(frozen=True)
class GrpoInputs:
    """All [T], float32 except `mask`; entries where `mask` is false have no effect."""

    logprobs: Tensor
    """Of the weights that are trained now; the only one with a gradient."""
    old_logprobs: Tensor
    """Of the trainer's weights before the first step on this batch."""
    sampler_logprobs: Tensor
    """As recorded when the tokens were sampled."""
    advantages: Tensor
    weights: Tensor
    """From `rollout_weight`."""
    mask: Tensor
    """bool: tokens that are learnt."""


@dataclass(frozen=True)
class GrpoLoss:
    loss: Tensor
    """Scalar."""
    mean_ratio: float
    max_ratio: float
    clipped_low: float
    """Fraction of tokens whose gradient the lower bound cut off."""
    clipped_high: float
    capped: float
    """Fraction of tokens whose importance was cut to the cap."""
    mean_importance: float
    divergence: float
    """Estimate of KL(sampler ‖ trainer now) per token, in nats: mean of r − 1 − log r."""
    tokens: int


def grpo_loss(inputs: GrpoInputs, options: GrpoOptions) -> GrpoLoss:
    """−Σ weight · min(importance, cap) · min(ratio · A, clip(ratio) · A) over the learnt tokens.

    ratio = exp(logprobs − old_logprobs); importance = exp(old_logprobs − sampler_logprobs), per token.
    """
    mask = inputs.mask
    logprobs = inputs.logprobs[mask]
    old = inputs.old_logprobs[mask].detach()
    sampler = inputs.sampler_logprobs[mask].detach()
    advantages = inputs.advantages[mask]
    ratio = torch.exp(logprobs - old)
    importance = torch.exp(old - sampler)
    bounded = ratio.clamp(1 - options.clip_low, 1 + options.clip_high)
    surrogate = torch.minimum(ratio * advantages, bounded * advantages)
    weighted = inputs.weights[mask] * importance.clamp(max=options.importance_cap) * surrogate
    loss = -weighted.sum()
    with torch.no_grad():
        low = (ratio < 1 - options.clip_low) & (advantages < 0)
        high = (ratio > 1 + options.clip_high) & (advantages > 0)
        change = logprobs - sampler
        return GrpoLoss(
            loss=loss,
            mean_ratio=_mean(ratio),
            max_ratio=float(ratio.max()) if ratio.numel() else 0.0,
            clipped_low=_mean(low.float()),
            clipped_high=_mean(high.float()),
            capped=_mean((importance > options.importance_cap).float()),
            mean_importance=_mean(importance),
            divergence=_mean(torch.exp(change) - 1 - change),
            tokens=int(mask.sum()),
        )


@dataclass(frozen=True)
class Mismatch:
    """How far the sampler and the trainer are apart on the same tokens, in nats per token."""

    kl_k3: float
    """Estimate of KL(sampler ‖ trainer): mean of r − 1 − log r with r = trainer / sampler (Schulman's k3)."""
    kl_k1: float
    """The same by mean of −log r: unbiased, noisy, may be negative."""
    max_difference: float
    """Largest |log r|."""


def mismatch(trainer_logprobs: Tensor, sampler_logprobs: Tensor) -> Mismatch:
    """Both [N]: the sampled tokens before the first step on them."""
    if trainer_logprobs.numel() == 0:
        return Mismatch(0.0, 0.0, 0.0)
    change = trainer_logprobs.detach().double() - sampler_logprobs.double()
    return Mismatch(
        kl_k3=float((torch.exp(change) - 1 - change).mean()),
        kl_k1=float(-change.mean()),
        max_difference=float(change.abs().max()),
    )


def _mean(values: Tensor) -> float:
    return float(values.mean()) if values.numel() else 0.0
