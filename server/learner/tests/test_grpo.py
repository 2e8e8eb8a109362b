from __future__ import annotations

import math

import pytest
import torch
from prime_learner.grpo import (
    EXCLUSIONS,
    GrpoInputs,
    GrpoOptions,
    Rollout,
    group_advantages,
    grpo_loss,
    mismatch,
    rollout_weight,
)
from torch import Tensor


def _rollout(
    name: str, reward: float | None, group: str = "g", in_gradient: bool = True, tokens: int = 1
) -> Rollout:
    return Rollout(name, group, reward, in_gradient, tokens)


def test_advantage_is_reward_minus_group_mean() -> None:
    rollouts = [_rollout("a", 1), _rollout("b", 0), _rollout("c", 0), _rollout("d", 0)]
    result = group_advantages(rollouts)
    assert result.by_rollout == {"a": 0.75, "b": -0.25, "c": -0.25, "d": -0.25}
    assert result.excluded == {}
    assert (result.groups, result.zero_variance_groups) == (1, 0)


def test_division_by_the_deviation_is_an_option() -> None:
    rollouts = [_rollout("a", 1), _rollout("b", 0), _rollout("c", 0), _rollout("d", 0)]
    deviation = math.sqrt(0.75 * 0.25)
    result = group_advantages(rollouts, divide_by_deviation=True)
    assert result.by_rollout["a"] == pytest.approx(0.75 / deviation)
    assert result.by_rollout["b"] == pytest.approx(-0.25 / deviation)


def test_groups_are_apart_and_those_of_equal_rewards_are_dropped_and_counted() -> None:
    rollouts = [
        *(_rollout(f"won{n}", 1, "won") for n in range(2)),
        *(_rollout(f"lost{n}", 0, "lost") for n in range(3)),
        _rollout("x", 1, "mixed"),
        _rollout("y", 0, "mixed"),
    ]
    result = group_advantages(rollouts)
    assert result.by_rollout == {"x": 0.5, "y": -0.5}
    assert (result.groups, result.zero_variance_groups) == (3, 2)
    assert list(result.excluded.values()) == [EXCLUSIONS["zero_variance"]] * 5


def test_attempts_out_of_budget_count_in_the_mean_and_invalid_ones_nowhere() -> None:
    rollouts = [
        _rollout("won", 1),
        _rollout("lost", 0),
        _rollout("budget", 0, in_gradient=False),
        _rollout("budget2", 0, in_gradient=False),
        _rollout("cancelled", None),
    ]
    result = group_advantages(rollouts)
    assert result.by_rollout == {"won": 0.75, "lost": -0.25}
    assert result.excluded == {
        "budget": EXCLUSIONS["mean_only"],
        "budget2": EXCLUSIONS["mean_only"],
        "cancelled": EXCLUSIONS["invalid"],
    }


def test_a_lone_attempt_teaches_nothing_and_has_its_own_reason() -> None:
    result = group_advantages([_rollout("a", 1), _rollout("b", None)])
    assert result.by_rollout == {}
    assert result.excluded == {"a": EXCLUSIONS["single"], "b": EXCLUSIONS["invalid"]}
    assert result.zero_variance_groups == 0


def test_missing_tokens_are_not_reported_as_equal_rewards() -> None:
    result = group_advantages([_rollout("a", 1, tokens=0), _rollout("b", 0)])
    assert result.excluded == {"a": EXCLUSIONS["no_tokens"]}
    assert result.by_rollout == {"b": -0.5}


def test_no_rollouts_at_all() -> None:
    assert group_advantages([]).by_rollout == {}


def _inputs(
    ratio: list[float],
    advantages: list[float],
    importance: list[float] | None = None,
    weights: list[float] | None = None,
    mask: list[bool] | None = None,
) -> GrpoInputs:
    """Old log-probabilities −1; the others follow from the ratios wanted."""
    count = len(ratio)
    old = torch.full((count,), -1.0, dtype=torch.float64)
    return GrpoInputs(
        logprobs=(old + torch.tensor(ratio, dtype=torch.float64).log()).requires_grad_(),
        old_logprobs=old,
        sampler_logprobs=old - torch.tensor(importance or [1.0] * count, dtype=torch.float64).log(),
        advantages=torch.tensor(advantages, dtype=torch.float64),
        weights=torch.tensor(weights or [1.0] * count, dtype=torch.float64),
        mask=torch.tensor(mask or [True] * count),
    )


def _gradient(inputs: GrpoInputs, options: GrpoOptions) -> list[float]:
    (gradient,) = torch.autograd.grad(grpo_loss(inputs, options).loss, inputs.logprobs)
    values: list[float] = gradient.tolist()
    return values


OPTIONS = GrpoOptions(clip_low=0.2, clip_high=0.28, importance_cap=2.0)


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "gradient"),
    [
        (1.0, 0.5, -0.5, -0.5),
        (1.2, 0.5, -0.6, -0.6),
        (1.5, 0.5, -0.64, 0.0),  # cut at 1.28
        (0.5, 0.5, -0.25, -0.25),  # a step back is not cut
        (0.9, -0.5, 0.45, 0.45),
        (0.5, -0.5, 0.4, 0.0),  # cut at 0.8
        (1.5, -0.5, 0.75, 0.75),  # a step back is not cut
    ],
)
def test_the_ratio_is_clipped_as_computed_by_hand(
    ratio: float, advantage: float, loss: float, gradient: float
) -> None:
    inputs = _inputs([ratio], [advantage])
    assert grpo_loss(inputs, OPTIONS).loss.item() == pytest.approx(loss)
    assert _gradient(inputs, OPTIONS) == pytest.approx([gradient])


def test_low_and_high_clip_are_separate() -> None:
    inputs = _inputs([1.5, 0.5], [1.0, -1.0])
    assert grpo_loss(inputs, OPTIONS).loss.item() == pytest.approx(-1.28 + 0.8)
    wide = GrpoOptions(clip_low=0.6, clip_high=0.1)
    assert grpo_loss(inputs, wide).loss.item() == pytest.approx(-1.1 + 0.5)
    result = grpo_loss(inputs, OPTIONS)
    assert (result.clipped_low, result.clipped_high) == (0.5, 0.5)
    assert result.mean_ratio == pytest.approx(1.0)


def test_importance_is_truncated_per_token_and_carries_no_gradient() -> None:
    inputs = _inputs([1.0, 1.0, 1.0], [1.0, 1.0, -1.0], importance=[0.5, 8.0, 3.0])
    result = grpo_loss(inputs, OPTIONS)
    assert result.loss.item() == pytest.approx(-0.5 - 2.0 + 2.0)
    assert _gradient(inputs, OPTIONS) == pytest.approx([-0.5, -2.0, 2.0])
    assert result.capped == pytest.approx(2 / 3)
    assert result.mean_importance == pytest.approx(11.5 / 3)


def test_tokens_outside_the_mask_have_no_effect_even_if_they_are_not_numbers() -> None:
    plain = _inputs([1.1, 0.9], [1.0, -1.0])
    inputs = _inputs([1.1, 5.0, 0.9], [1.0, math.nan, -1.0], mask=[True, False, True])
    inputs.sampler_logprobs[1] = -math.inf
    assert grpo_loss(inputs, OPTIONS).loss.item() == pytest.approx(grpo_loss(plain, OPTIONS).loss.item())
    assert _gradient(inputs, OPTIONS)[1] == 0
    assert grpo_loss(inputs, OPTIONS).tokens == 2


def test_nothing_to_learn_is_a_loss_of_zero() -> None:
    result = grpo_loss(_inputs([1.0], [1.0], mask=[False]), OPTIONS)
    assert (result.loss.item(), result.tokens, result.mean_ratio) == (0, 0, 0)


def test_each_rollout_counts_the_same_or_each_token_does() -> None:
    # Rollout A of 4 tokens, rollout B of 1 token, both with advantage 1 and ratio 1.
    per_rollout = GrpoOptions()
    weights = [*[rollout_weight(per_rollout, 4, 2)] * 4, rollout_weight(per_rollout, 1, 2)]
    assert weights == [0.125] * 4 + [0.5]
    assert grpo_loss(_inputs([1.0] * 5, [1.0] * 5, weights=weights), per_rollout).loss.item() == -1
    constant = GrpoOptions(normalisation="constant", constant_tokens=10)
    weights = [*[rollout_weight(constant, 4, 2)] * 4, rollout_weight(constant, 1, 2)]
    assert weights == pytest.approx([0.05] * 5)


def test_the_gradient_is_that_of_the_loss() -> None:
    torch.manual_seed(0)
    base = _inputs([1.0] * 6, [1.0, -1.0, 0.5, -0.5, 1.0, -1.0], importance=[1, 3, 0.5, 1, 1, 1])

    old = torch.randn(6, 3, dtype=torch.float64)
    fixed = old.log_softmax(-1)[:, 0].detach() + 0.05

    def with_fixed_old(logits: Tensor) -> Tensor:
        logprobs = logits.log_softmax(-1)[:, 0]
        return grpo_loss(
            GrpoInputs(logprobs, fixed, fixed, base.advantages, base.weights, base.mask), OPTIONS
        ).loss

    assert torch.autograd.gradcheck(with_fixed_old, (old.clone().requires_grad_(),))


def test_at_the_first_step_the_gradient_is_that_of_policy_gradient() -> None:
    logits = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    advantages = torch.tensor([1.0, -0.5, 0.25, 0.0, -1.0], dtype=torch.float64)
    logprobs = logits.log_softmax(-1)[:, 1]
    ones = torch.ones(5, dtype=torch.float64)
    inputs = GrpoInputs(
        logprobs, logprobs.detach(), logprobs.detach(), advantages, ones, torch.ones(5, dtype=torch.bool)
    )
    result = grpo_loss(inputs, OPTIONS)
    assert result.mean_ratio == 1
    assert result.divergence == 0
    (ours,) = torch.autograd.grad(result.loss, logits, retain_graph=True)
    (plain,) = torch.autograd.grad(-(advantages * logprobs).sum(), logits)
    torch.testing.assert_close(ours, plain)


def test_options_that_do_not_go_together_are_refused() -> None:
    for values in ({"normalisation": "constant"}, {"constant_tokens": 5}):
        with pytest.raises(ValueError, match="constant_tokens goes with normalisation constant"):
            GrpoOptions.model_validate(values)
    with pytest.raises(ValueError, match="kl"):
        GrpoOptions.model_validate({"kl": 0.1})


def test_a_bandit_converges_to_the_arm_that_pays() -> None:
    torch.manual_seed(0)
    logits = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.05)
    pays = [0.1, 0.2, 0.8, 0.3]
    options = GrpoOptions()
    for _ in range(150):
        with torch.no_grad():
            sampler = logits.log_softmax(-1)
            arms = torch.multinomial(sampler.exp(), 16, replacement=True)
            rewards = (torch.rand(16) < torch.tensor(pays)[arms]).float().tolist()
        rollouts = [_rollout(str(n), reward) for n, reward in enumerate(rewards)]
        result = group_advantages(rollouts)
        if not result.by_rollout:
            continue
        old = sampler[arms]
        advantages = torch.tensor([result.by_rollout[str(n)] for n in range(16)])
        weights = torch.full((16,), rollout_weight(options, 1, 16))
        for _ in range(2):
            inputs = GrpoInputs(
                logits.log_softmax(-1)[arms], old, old, advantages, weights,
                torch.ones(16, dtype=torch.bool),
            )
            optimizer.zero_grad()
            grpo_loss(inputs, options).loss.backward()
            optimizer.step()
    assert logits.softmax(-1)[2] > 0.9


def test_the_mismatch_of_sampler_and_trainer_by_hand() -> None:
    trainer, sampler = torch.tensor([-1.0, -2.0]), torch.tensor([-1.5, -1.0])
    result = mismatch(trainer, sampler)
    # log r = 0.5 and −1.
    assert result.kl_k1 == pytest.approx(0.25)
    assert result.kl_k3 == pytest.approx(((math.exp(0.5) - 1.5) + math.exp(-1)) / 2)
    assert result.max_difference == pytest.approx(1)
    assert mismatch(trainer, trainer).kl_k3 == 0


def test_a_problem_of_a_rollout_does_not_hide_behind_equal_rewards_and_counts_in_the_mean() -> None:
    lost = Rollout("lost", "g", 0, True, 1, "too_long")
    result = group_advantages([_rollout("won", 1), lost])
    assert result.by_rollout == {"won": 0.5}
    assert result.excluded == {"lost": EXCLUSIONS["too_long"]}
    equal = group_advantages([_rollout("a", 0), lost])
    assert equal.excluded == {"a": EXCLUSIONS["zero_variance"], "lost": EXCLUSIONS["too_long"]}
