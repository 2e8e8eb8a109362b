from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from prime_learner.attention import learnt_logprobs, use_packed_attention
from prime_learner.export import CachedDecoder
from prime_learner.grpo import EXCLUSIONS, GrpoOptions
from prime_learner.gradient_workers import GradientWorkers
from prime_learner.grpo_batch import add_gradient, prepare_batch
from prime_learner.model import ModelShape, new_model
from prime_learner.optimizer import OptimizerOptions, apply_step, new_optimizer
from prime_learner.rows import Reinforcement, TrainingRow
from prime_learner.strict import InputError
from torch import Tensor
from transformers import Qwen2ForCausalLM

OPTIONS = GrpoOptions()
VOCABULARY = 40


def _row(
    name: str,
    sampled: Sequence[int],
    logprobs: Sequence[float] | None,
    reward: float | None,
    *,
    group: str = "g",
    rollout: str | None = None,
    version: int = 1,
    in_gradient: bool = True,
) -> TrainingRow:
    prompt = (1, 2, 3)
    return TrainingRow(
        id=name,
        ids=(*prompt, *sampled),
        loss_mask=(*(0 for _ in prompt), *(1 for _ in sampled)),
        reinforcement=Reinforcement(
            group=group,
            rollout=rollout or name,
            policy_version=version,
            logprobs=None if logprobs is None else (*(0.0 for _ in prompt), *logprobs),
            reward=reward,
            in_gradient=in_gradient,
        ),
    )


def _sample(model: Qwen2ForCausalLM, count: int, seed: int) -> tuple[list[int], list[float]]:
    """Samples with the key/value cache, token by token, as the embedded policy does."""
    decoder = CachedDecoder(model)
    generator = torch.Generator().manual_seed(seed)
    size = (1, decoder.kv_heads, 0, decoder.head_size)
    cache: tuple[Tensor, ...] = tuple(torch.zeros(size) for _ in range(2 * len(model.model.layers)))
    ids, new = [1, 2, 3], [1, 2, 3]
    sampled: list[int] = []
    logprobs: list[float] = []
    with torch.no_grad():
        for _ in range(count):
            places = torch.arange(len(ids) - len(new), len(ids))[None]
            logits, *present = decoder(
                torch.tensor([new]), torch.ones(1, len(ids), dtype=torch.int64), places, *cache
            )
            cache = tuple(present)
            distribution = logits[0, -1].log_softmax(-1)
            token = int(torch.multinomial(distribution.exp(), 1, generator=generator))
            sampled.append(token)
            logprobs.append(float(distribution[token]))
            ids.append(token)
            new = [token]
    return sampled, logprobs


def test_the_first_ratio_is_one_for_what_was_sampled_with_a_cache(tiny_shape: ModelShape) -> None:
    model = new_model(tiny_shape, VOCABULARY, seed=1)
    samples = [_sample(model, 4 + seed, seed) for seed in range(4)]
    rows = [
        _row(str(n), ids, logprobs, reward=float(n == 0)) for n, (ids, logprobs) in enumerate(samples)
    ]
    batch = prepare_batch(rows, OPTIONS, tokens_per_pack=16)
    assert len(batch.packs) > 1
    use_packed_attention(model)
    results = add_gradient(GradientWorkers(model, 1), batch, OPTIONS)
    for part, result in zip(batch.packs, results, strict=True):
        torch.testing.assert_close(result.logprobs, part.sampler_logprobs, atol=1e-4, rtol=0)
    assert all(result.loss.mean_ratio == pytest.approx(1, abs=1e-5) for result in results)
    assert all(result.loss.mean_importance == pytest.approx(1, abs=1e-4) for result in results)
    # Advantages of a group add up to nothing, and so does the loss of the first step.
    assert sum(result.loss.loss.item() for result in results) == pytest.approx(0, abs=1e-4)


def test_a_step_makes_the_winner_likelier_and_the_losers_less_likely(
    tiny_shape: ModelShape,
) -> None:
    model = new_model(tiny_shape, VOCABULARY, seed=1)
    samples = [_sample(model, 5, seed) for seed in range(4)]
    rows = [_row(str(n), *sample, reward=float(n == 2)) for n, sample in enumerate(samples)]
    use_packed_attention(model)
    batch = prepare_batch(rows, OPTIONS, tokens_per_pack=1000)
    (part,) = batch.packs
    optimizer = new_optimizer(model, OptimizerOptions(weight_decay=0))
    (first,) = add_gradient(GradientWorkers(model, 1), batch, OPTIONS)
    apply_step(model, optimizer, rate=1e-3, clip_norm=1.0, loss=0.0)
    with torch.no_grad():
        change = learnt_logprobs(model, part.rows) - first.logprobs
    rows_of_learnt = part.rows.row_of_token[part.rows.loss_mask]
    by_row = [float(change[rows_of_learnt == n].sum()) for n in range(4)]
    assert by_row[2] > 0
    assert by_row[2] == max(by_row)
    assert sum(by_row) - by_row[2] < 0


def test_rows_of_one_rollout_share_its_advantage_and_its_weight() -> None:
    rows = [
        _row("a1", (5, 6), (-1, -1), 1, rollout="a"),
        _row("a2", (7, 8, 9, 9), (-1,) * 4, 1, rollout="a"),
        _row("b", (5,), (-1,), 0),
    ]
    batch = prepare_batch(rows, OPTIONS, tokens_per_pack=100)
    assert batch.rollouts == 2
    (part,) = batch.packs
    assert part.advantages.tolist() == [0.5] * 6 + [-0.5]
    assert part.weights.tolist() == pytest.approx([1 / 12] * 6 + [1 / 2])


def test_counts_what_is_left_out_and_why() -> None:
    rows = [
        _row("stale", (5,), (-1,), 1, group="old", version=1),
        *(_row(f"equal{n}", (5,), (-1,), 0, group="equal", version=5) for n in range(2)),
        _row("won", (5,), (-1,), 1, version=5),
        _row("budget", (5,), (-1,), 0, version=5, in_gradient=False),
        _row("cancelled", (5,), (-1,), None, version=5),
    ]
    batch = prepare_batch(rows, OPTIONS, tokens_per_pack=100, oldest_version=2)
    assert batch.excluded == {
        "policy version older than 2": 1,
        EXCLUSIONS["zero_variance"]: 2,
        EXCLUSIONS["mean_only"]: 1,
        EXCLUSIONS["invalid"]: 1,
    }
    assert (batch.rollouts, batch.groups, batch.zero_variance_groups) == (1, 2, 1)
    assert batch.packs[0].advantages.tolist() == [0.5]


def test_a_batch_of_equal_rewards_only_is_empty_and_no_error(tiny_shape: ModelShape) -> None:
    batch = prepare_batch(
        [_row(str(n), (5,), (-1,), 1) for n in range(4)], OPTIONS, tokens_per_pack=100
    )
    assert (batch.packs, batch.rollouts, batch.zero_variance_groups) == ((), 0, 1)
    assert add_gradient(GradientWorkers(new_model(tiny_shape, VOCABULARY, 1), 1), batch, OPTIONS) == ()


def test_refuses_rows_that_contradict_each_other() -> None:
    rows = [
        _row("a1", (5,), (-1,), 1, rollout="a"),
        _row("a2", (5,), (-1,), 0, rollout="a"),
    ]
    with pytest.raises(InputError, match="rows a1 and a2 of rollout a disagree"):
        prepare_batch(rows, OPTIONS, 100)
    mixed = [_row("a", (5,), (-1,), 1, version=1), _row("b", (5,), (-1,), 0, version=2)]
    with pytest.raises(InputError, match="group g mixes policy versions"):
        prepare_batch(mixed, OPTIONS, 100)
    plain = TrainingRow(id="p", ids=(1, 2), loss_mask=(0, 1))
    with pytest.raises(InputError, match="row p has no reinforcement part"):
        prepare_batch([plain], OPTIONS, 100)


def test_missing_log_probabilities_are_not_reported_as_equal_rewards() -> None:
    rows = [_row(str(n), (5,), None, 0) for n in range(2)]
    rows += [_row("won", (5,), (-1,), 1, group="h"), _row("lost", (5,), None, 0, group="h")]
    batch = prepare_batch(rows, OPTIONS, tokens_per_pack=100)
    assert batch.excluded == {EXCLUSIONS["no_logprobs"]: 3}
    # They still count in the mean of their group.
    assert batch.packs[0].advantages.tolist() == [0.5]


def test_a_row_beyond_the_context_leaves_out_its_rollout_and_not_the_run() -> None:
    rows = [
        _row("short", (5,), (-1,), 1),
        _row("long", (5,) * 30, (-1,) * 30, 0),
        _row("other", (5,), (-1,), 0),
    ]
    for capacity, context in ((100, 20), (20, None)):
        batch = prepare_batch(rows, OPTIONS, capacity, context=context)
        assert batch.excluded == {EXCLUSIONS["too_long"]: 1}
        assert batch.packs[0].advantages.tolist() == pytest.approx([2 / 3, -1 / 3])


def test_reports_rewards_and_staleness_also_of_what_is_left_out() -> None:
    rows = [
        _row("a", (5,), (-1,), 1, version=3),
        _row("b", (5,), (-1,), 1, version=3),
        _row("c", (5,), (-1,), None, group="h", version=5),
        _row("d", (5,), (-1,), 1, group="old", version=0),
    ]
    batch = prepare_batch(rows, OPTIONS, 100, oldest_version=2, current_version=6)
    assert (batch.rewards, batch.staleness) == ((1, 1), (3, 3, 1, 6))
    with pytest.raises(InputError, match="rows of policy version 5, but the weights that learn are version 4"):
        prepare_batch(rows, OPTIONS, 100, current_version=4)


def test_the_clip_acts_from_the_second_epoch_on(tiny_shape: ModelShape) -> None:
    model = new_model(tiny_shape, VOCABULARY, seed=1)
    samples = [_sample(model, 5, seed) for seed in range(4)]
    rows = [_row(str(n), *sample, reward=float(n == 2)) for n, sample in enumerate(samples)]
    use_packed_attention(model)
    batch = prepare_batch(rows, OPTIONS, tokens_per_pack=1000)
    optimizer = new_optimizer(model, OptimizerOptions(weight_decay=0))
    (first,) = add_gradient(GradientWorkers(model, 1), batch, OPTIONS)
    assert (first.loss.max_ratio, first.loss.clipped_low, first.loss.clipped_high) == (1, 0, 0)
    for _ in range(12):
        apply_step(model, optimizer, rate=3e-3, clip_norm=1.0, loss=0.0)
        (later,) = add_gradient(GradientWorkers(model, 1), batch, OPTIONS, [first.logprobs])
    assert later.loss.max_ratio > 1 + OPTIONS.clip_high
    assert later.loss.clipped_high > 0
    assert later.loss.clipped_low > 0
