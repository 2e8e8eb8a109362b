"""Training on replies from a set, against the distribution that they are drawn from, worked out in loops."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from prime_learner.attention import (
    learnt_logits,
    learnt_logprobs,
    use_packed_attention,
    within_choices,
)
from prime_learner.evaluate import evaluate_loss
from prime_learner.gradient_workers import GradientWorkers
from prime_learner.grpo import GrpoOptions, mismatch
from prime_learner.grpo_batch import add_gradient, prepare_batch
from prime_learner.model import ModelShape, new_model
from prime_learner.packing import pack
from prime_learner.rows import Choice, Reinforcement, TrainingRow
from prime_learner.schedule import Schedule
from prime_learner.supervised import SupervisedOptions, supervised_loss, train_supervised
from tests.conftest import spread_model
from tests.reply_sets import choices_of
from tokenizers import Tokenizer
from transformers import Qwen2ForCausalLM

VOCABULARY = 50
END = 2


def _replies(chosen: random.Random) -> list[tuple[int, ...]]:
    """Several replies with common beginnings; each ends in END and holds it nowhere else."""
    replies = {
        (*(chosen.randrange(3, 6) for _ in range(chosen.randrange(5))), END)
        for _ in range(chosen.randrange(1, 9))
    }
    return sorted(replies)


def _row(
    name: str,
    prompt: Sequence[int],
    replies: Sequence[Sequence[int]],
    weights: Sequence[float],
    drawn: int,
) -> TrainingRow:
    start = len(prompt)
    choices = tuple(
        choice.model_copy(update={"at": start + choice.at})
        for choice in choices_of(replies, weights, drawn)
    )
    places = {choice.at for choice in choices}
    ids = (*prompt, *replies[drawn])
    mask = tuple(int(at in places) for at in range(len(ids)))
    return TrainingRow(id=name, ids=ids, loss_mask=mask, choices=choices)


def _random_row(name: str, chosen: random.Random) -> TrainingRow:
    prompt = [chosen.randrange(VOCABULARY) for _ in range(chosen.randrange(1, 12))]
    replies = _replies(chosen)
    weights = [chosen.uniform(0.01, 1) for _ in replies]
    if chosen.random() < 0.3:
        ids = (*prompt, *chosen.choice(replies))
        mask = (*(0 for _ in prompt), *(1 for _ in ids[len(prompt) :]))
        return TrainingRow(id=name, ids=ids, loss_mask=mask)
    return _row(name, prompt, replies, weights, chosen.randrange(len(replies)))


def _slowly(model: Qwen2ForCausalLM, row: TrainingRow) -> tuple[list[float], float]:
    """Log-probabilities of the learnt tokens and their summed entropy: the library, one row, loops."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([row.ids])).logits[0].double()
    by_place = {choice.at: choice for choice in row.choices or ()}
    logprobs: list[float] = []
    entropy = 0.0
    for at, learnt in enumerate(row.loss_mask):
        if not learnt:
            continue
        line: list[float] = logits[at - 1].tolist()
        scores = dict(enumerate(line))
        if row.choices is not None:
            choice = by_place[at]
            scores = {
                token: line[token] + bias
                for token, bias in zip(choice.ids, choice.bias, strict=True)
            }
        whole = math.fsum(math.exp(score) for score in scores.values())
        shares = {token: math.exp(score) / whole for token, score in scores.items()}
        logprobs.append(math.log(shares[row.ids[at]]))
        entropy -= math.fsum(share * math.log(share) for share in shares.values())
    return logprobs, entropy


def test_the_distribution_is_that_of_the_ids_that_could_come() -> None:
    row = TrainingRow(
        id="a",
        ids=(0, 3, 1),
        loss_mask=(0, 1, 0),
        choices=(Choice(at=1, ids=(3, 1), bias=(math.log(0.25), math.log(0.75))),),
    )
    choices = pack([row]).choices
    assert choices is not None
    logits = torch.tensor([[9.0, math.log(2.0), 9.0, math.log(6.0)]], requires_grad=True)
    shares = within_choices(logits, choices).softmax(-1)
    # 0.75 · 2 and 0.25 · 6.
    torch.testing.assert_close(shares, torch.tensor([[0.0, 0.5, 0.0, 0.5]]))
    (-shares[0, 3].log()).backward()
    torch.testing.assert_close(logits.grad, torch.tensor([[0.0, 0.5, 0.0, -0.5]]))


def test_rows_with_and_without_choices_share_a_pack() -> None:
    choice = Choice(at=2, ids=(4, 9), bias=(-1.0, 0))
    rows = [
        TrainingRow(id="a", ids=(1, 2, 3), loss_mask=(0, 1, 1)),
        TrainingRow(id="b", ids=(5, 6), loss_mask=(0, 0), choices=()),
        TrainingRow(id="c", ids=(1, 2, 4, 7), loss_mask=(0, 0, 1, 0), choices=(choice,)),
        TrainingRow(id="d", ids=(1, 2), loss_mask=(0, 1)),
    ]
    choices = pack(rows).choices
    assert choices is not None
    assert choices.place.tolist() == [2, 2]
    assert choices.id.tolist() == [4, 9]
    assert choices.bias.tolist() == [-1, 0]
    assert pack(rows[:2]).choices is None
    logits = torch.randn(4, 10)
    within = within_choices(logits, choices)
    assert torch.equal(within[[0, 1, 3]], logits[[0, 1, 3]])
    assert (within[2] > -1e8).nonzero()[:, 0].tolist() == [4, 9]


@pytest.mark.parametrize("forward", ["training", "modules"])
def test_log_probabilities_are_those_of_a_loop_over_rows_and_places(
    tiny_shape: ModelShape, forward: str
) -> None:
    reference, packing = spread_model(tiny_shape, VOCABULARY).eval(), spread_model(tiny_shape, VOCABULARY)
    use_packed_attention(packing)
    if forward == "modules":
        packing.double()  # Which the forward pass of training does not take.
    chosen = random.Random(7)
    with_choices = 0
    for _ in range(25):
        rows = [_random_row(str(n), chosen) for n in range(chosen.randrange(1, 8))]
        expected = [value for row in rows for value in _slowly(reference, row)[0]]
        with torch.no_grad():
            actual = learnt_logprobs(packing, pack(rows))
        torch.testing.assert_close(actual, torch.tensor(expected), atol=2e-5, rtol=0)
        with_choices += sum(len(row.choices or ()) for row in rows)
    assert with_choices > 50


def test_the_replies_of_a_set_have_all_the_probability(tiny_shape: ModelShape) -> None:
    model = spread_model(tiny_shape, VOCABULARY)
    use_packed_attention(model)
    chosen = random.Random(8)
    for _ in range(20):
        replies = _replies(chosen)
        if len(replies) == 1:
            continue
        weights = [chosen.uniform(0.01, 1) for _ in replies]
        rows = [_row(str(n), (7, 8), replies, weights, n) for n in range(len(replies))]
        packed = pack(rows)
        with torch.no_grad():
            logprobs = learnt_logprobs(model, packed)
        assert packed.choices is not None
        row_of_learnt = packed.row_of_token[packed.loss_mask]
        of_rows = torch.zeros(len(rows)).index_add(0, row_of_learnt, logprobs).exp()
        assert of_rows.sum().item() == pytest.approx(1, abs=1e-4)
        # A model that knows nothing draws by the prior weights.
        flat = within_choices(torch.zeros(len(logprobs), VOCABULARY), packed.choices)
        said = flat.log_softmax(-1).gather(1, packed.ids[packed.loss_mask][:, None])[:, 0]
        prior = torch.zeros(len(rows)).index_add(0, row_of_learnt, said).exp()
        torch.testing.assert_close(prior, torch.tensor(weights) / sum(weights), atol=1e-5, rtol=0)


def test_only_the_ids_that_could_come_have_a_gradient(tiny_shape: ModelShape) -> None:
    model = spread_model(tiny_shape, VOCABULARY)
    use_packed_attention(model)
    chosen = random.Random(9)
    rows = [_random_row(str(n), chosen) for n in range(12)]
    packed = pack(rows)
    assert packed.choices is not None
    leaf = torch.randn(int(packed.loss_mask.sum()), VOCABULARY, requires_grad=True)
    within = within_choices(leaf, packed.choices)
    wanted = packed.ids[packed.loss_mask]
    torch.nn.functional.cross_entropy(within, wanted, reduction="sum").backward()
    expected = within.detach().softmax(-1)
    expected[torch.arange(len(wanted)), wanted] -= 1
    assert leaf.grad is not None
    torch.testing.assert_close(leaf.grad, expected)
    could = torch.zeros_like(leaf, dtype=torch.bool)
    could[packed.choices.place, packed.choices.id] = True
    has_choice = could.any(1)
    assert has_choice.any()
    assert not has_choice.all()
    assert not leaf.grad[has_choice][~could[has_choice]].any()
    assert leaf.grad[could].all()
    # And so do the weights of a step, without anything that is not finite.
    supervised_loss(model, packed, 1).backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())


def _rollout(row: TrainingRow, logprobs: Sequence[float], reward: float) -> TrainingRow:
    values = iter(logprobs)
    return row.model_copy(
        update={
            "reinforcement": Reinforcement(
                group="g",
                rollout=row.id,
                policy_version=0,
                logprobs=tuple(next(values) if learnt else 0.0 for learnt in row.loss_mask),
                reward=reward,
                in_gradient=True,
            )
        }
    )


def test_sampler_and_trainer_agree_on_rollouts_from_sets(tiny_shape: ModelShape) -> None:
    reference, model = spread_model(tiny_shape, VOCABULARY).eval(), spread_model(tiny_shape, VOCABULARY)
    use_packed_attention(model)
    chosen = random.Random(10)
    rows: list[TrainingRow] = []
    entropy = 0.0
    while len(rows) < 8:
        row = _random_row(str(len(rows)), chosen)
        if row.choices:
            logprobs, of_row = _slowly(reference, row)
            entropy += of_row
            rows.append(_rollout(row, logprobs, float(len(rows) % 2)))
    options = GrpoOptions()
    batch = prepare_batch(rows, options, tokens_per_pack=30)
    assert len(batch.packs) > 1
    results = add_gradient(GradientWorkers(model, 1), batch, options)
    apart = mismatch(
        torch.cat([result.logprobs for result in results]),
        torch.cat([part.sampler_logprobs for part in batch.packs]),
    )
    assert apart.max_difference < 2e-5
    assert apart.kl_k3 < 1e-8
    assert math.fsum(result.entropy for result in results) == pytest.approx(entropy, abs=1e-3)
    assert all(result.loss.mean_importance == pytest.approx(1, abs=1e-5) for result in results)


def test_a_rollout_in_which_nothing_was_drawn_is_left_out_and_counted() -> None:
    forced = _row("forced", (7, 8), [(3, END)], [1], 0)
    assert forced.choices == ()
    drawn = _row("drawn", (7, 8), [(3, END), (4, END)], [1, 1], 0)
    rows = [_rollout(forced, (), 1), _rollout(drawn, (math.log(0.5),), 0)]
    batch = prepare_batch(rows, GrpoOptions(), 100)
    assert batch.rollouts == 1
    assert batch.packs[0].advantages.tolist() == [-0.5]


REPLIES = [(3, 4, 5, END), (3, 4, 6, END), (3, 7, END)]
WEIGHTS = [0.1, 0.2, 0.7]
"""The prior likes the replies best that are wrong."""


def _tasks() -> list[TrainingRow]:
    """What the prompt ends in says which of the replies is right."""
    return [
        _row(f"{start}-{right}", (start, 20 + right), REPLIES, WEIGHTS, right)
        for start in range(10, 16)
        for right in range(3)
    ]


OPTIONS = SupervisedOptions(
    steps=60, rows_per_step=6, tokens_per_pack=100, schedule=Schedule(warmup_steps=3, peak=1e-2),
    checkpoint_every=20,
)


def test_a_warm_start_learns_which_reply_of_the_set_is_right(
    tmp_path: Path, tokenizer: Tokenizer, tiny_shape: ModelShape
) -> None:
    rows = _tasks()
    model = new_model(tiny_shape, VOCABULARY, seed=1)
    losses: list[float] = []
    train_supervised(
        model, rows, OPTIONS, tmp_path, "d", on_step=lambda metrics: losses.append(metrics.loss)
    )
    prior = math.log(0.1) + math.log(0.2) + math.log(0.7)
    # The third reply has one learnt token, the others two: together 30 · log-probability of 5 tokens.
    assert losses[0] == pytest.approx(-prior / 5, abs=0.4)
    assert losses[-1] < 0.05
    for right in range(3):
        # A prompt whose beginning was never seen.
        packed = pack([_row(str(n), (16, 20 + right), REPLIES, WEIGHTS, n) for n in range(3)])
        with torch.no_grad():
            logprobs = learnt_logprobs(model, packed)
        of_rows = torch.zeros(3).index_add(
            0, packed.row_of_token[packed.loss_mask], logprobs
        )
        assert int(of_rows.argmax()) == right
        assert of_rows[right].exp() > 0.8
    fields = evaluate_loss(model, tokenizer, rows, 100)
    overall = fields["overall"]
    assert isinstance(overall, dict)
    assert overall["tokens"] == 30
    assert overall["accuracy"] == 1
    assert overall["loss"] == pytest.approx(losses[-1], abs=0.05)


def test_an_interrupted_run_on_choices_ends_with_the_same_bits(
    tmp_path: Path, tiny_shape: ModelShape
) -> None:
    rows = _tasks()
    options = OPTIONS.model_copy(update={"steps": 8})
    whole = new_model(tiny_shape, VOCABULARY, seed=1)
    train_supervised(whole, rows, options, tmp_path / "whole", "d")
    done: list[int] = []
    train_supervised(
        new_model(tiny_shape, VOCABULARY, seed=1), rows, options, tmp_path / "parts", "d",
        on_step=lambda metrics: done.append(metrics.step), should_stop=lambda: done[-1] == 3,
    )
    again = new_model(tiny_shape, VOCABULARY, seed=1)
    assert train_supervised(again, rows, options, tmp_path / "parts", "d").resumed_from == 3
    for one, other in zip(whole.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_rows_without_choices_go_through_as_they_did(tiny_shape: ModelShape) -> None:
    model = spread_model(tiny_shape, VOCABULARY)
    use_packed_attention(model)
    row = TrainingRow(id="a", ids=(1, 2, 3), loss_mask=(0, 1, 1))
    choice = Choice(at=1, ids=(2, 3), bias=(0, 0))
    other = TrainingRow(id="b", ids=(1, 2, 3), loss_mask=(0, 1, 0), choices=(choice,))
    with torch.no_grad():
        torch.testing.assert_close(
            learnt_logits(model, pack([row, other]))[:2], learnt_logits(model, pack([row]))
        )
