"""Common beginnings computed once: the same numbers and gradients as row by row."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch
from prime_learner.attention import learnt_logits, use_packed_attention
from prime_learner.gradient_workers import GradientWorkers
from prime_learner.grpo import GrpoOptions
from prime_learner.grpo_batch import add_gradient, prepare_batch
from prime_learner.model import ModelShape
from prime_learner.packing import pack, pack_families
from prime_learner.rows import Choice, Reinforcement, TrainingRow
from prime_learner.sharing import Family, plan_families
from prime_learner.strict import InputError
from tests.conftest import spread_model
from transformers import Qwen2ForCausalLM

VOCABULARY = 60
# Two heads share a key, and three layers: the last one is computed in part only.
SHAPE = ModelShape(hidden=32, layers=3, heads=4, kv_heads=2, feed_forward=48, context=512)


def _model() -> Qwen2ForCausalLM:
    model = spread_model(SHAPE, VOCABULARY)
    use_packed_attention(model)
    return model


def _rows(seed: int, groups: int = 4) -> list[TrainingRow]:
    """Groups of rows with a prompt of their own, in any order; some rows with choices, some multi-turn."""
    chosen = random.Random(seed)
    rows: list[TrainingRow] = []
    for group in range(groups):
        prompt = [chosen.randrange(VOCABULARY) for _ in range(chosen.randrange(0, 20))]
        with_choices = chosen.random() < 0.5
        for number in range(chosen.randrange(1, 7)):
            reply = [chosen.randrange(VOCABULARY) for _ in range(chosen.randrange(2, 12))]
            mask = [0] * len(prompt) + [int(chosen.random() < 0.7) for _ in reply]
            mask[0], mask[-1] = 0, 1
            ids = (*prompt, *reply)
            learnt = [at for at, one in enumerate(mask) if one]
            choices = tuple(
                Choice(at=at, ids=(ids[at], (ids[at] + 1) % VOCABULARY), bias=(-0.1, -2.3))
                for at in learnt
            )
            rows.append(
                TrainingRow(
                    id=f"{group}-{number}",
                    ids=ids,
                    loss_mask=tuple(mask),
                    choices=choices if with_choices else None,
                    reinforcement=Reinforcement(
                        group=str(group),
                        rollout=f"{group}-{number}",
                        policy_version=0,
                        logprobs=tuple(-1.0 * one for one in mask),
                        reward=float(number % 2),
                        in_gradient=True,
                    ),
                )
            )
    chosen.shuffle(rows)
    return rows


def _by_row(
    model: Qwen2ForCausalLM, rows: Sequence[TrainingRow], plan: Sequence[Sequence[Family]]
) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    for families in plan:
        packed = pack_families(rows, families)
        logits = learnt_logits(model, packed)
        of_row = packed.row_of_token[packed.loss_mask]
        members = [rows[index] for family in families for index in family.rows]
        for number, row in enumerate(members):
            found[row.id] = logits[of_row == number]
    return found


@pytest.mark.parametrize("seed", range(12))
def test_logits_are_those_of_each_row_alone(seed: int) -> None:
    model = _model()
    rows = _rows(seed)
    with torch.no_grad():
        shared = _by_row(model, rows, plan_families(rows, 80))
        for row in rows:
            alone = learnt_logits(model, pack([row]))
            torch.testing.assert_close(shared[row.id], alone, atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("capacity", [32, 100, 1000])
def test_the_gradient_of_a_step_is_the_same(capacity: int) -> None:
    rows = _rows(3, groups=6)

    def gradient(share: bool) -> tuple[dict[str, torch.Tensor], int]:
        model = _model()
        batch = prepare_batch(rows, GrpoOptions(), capacity, share=share)
        add_gradient(GradientWorkers(model, 1), batch, GrpoOptions())
        named = {
            name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None
        }
        assert batch.tokens == sum(len(row.ids) for row in rows if row.id[0] in _mixed(rows))
        return named, sum(part.rows.tokens for part in batch.packs)

    (alone, tokens), (shared, fewer) = gradient(False), gradient(True)
    assert fewer < tokens
    assert alone.keys() == shared.keys()
    for name, wanted in alone.items():
        torch.testing.assert_close(shared[name], wanted, atol=1e-6, rtol=1e-4, msg=name)


def _mixed(rows: Sequence[TrainingRow]) -> set[str]:
    """Groups with different rewards: those that are learnt from."""
    rewards: dict[str, set[float]] = {}
    for row in rows:
        assert row.reinforcement is not None
        rewards.setdefault(row.id[0], set()).add(row.reinforcement.reward or 0.0)
    return {group for group, values in rewards.items() if len(values) > 1}


@pytest.mark.parametrize("seed", range(20))
def test_every_row_comes_once_and_packs_hold_no_more_than_they_may(seed: int) -> None:
    rows = _rows(seed, groups=5)
    capacity = random.Random(seed).randrange(31, 120)
    plan = plan_families(rows, capacity)
    indices = [index for families in plan for family in families for index in family.rows]
    assert sorted(indices) == list(range(len(rows)))
    for families in plan:
        assert pack_families(rows, families).tokens <= capacity
        for family in families:
            beginnings = {rows[index].ids[: family.shared] for index in family.rows}
            assert len(beginnings) == 1
            # What is predicted from a token is learnt in one row, so it is never shared.
            assert all(not any(rows[index].loss_mask[: family.shared + 1]) for index in family.rows)
            assert (family.shared > 0) <= (len(family.rows) > 1)
    assert plan == plan_families(rows, capacity)


def test_a_beginning_is_computed_once_in_a_pack() -> None:
    prompt = tuple(range(30))
    rows = [
        TrainingRow(id=str(n), ids=(*prompt, n, n), loss_mask=(*(0,) * 30, 1, 1)) for n in range(10)
    ]
    ((family,),) = plan_families(rows, 64)
    assert family == Family(tuple(range(10)), 29)
    packed = pack_families(rows, [family])
    assert packed.tokens == 29 + 10 * 3
    assert packed.positions[29:35].tolist() == [29, 30, 31, 29, 30, 31]
    assert packed.parents == (None, *(0,) * 10)
    # A smaller pack: the beginning comes again.
    assert [len(families[0].rows) for families in plan_families(rows, 44)] == [5, 5]


def test_a_row_that_no_pack_holds_is_refused() -> None:
    row = TrainingRow(id="long", ids=tuple(range(20)), loss_mask=(*(0,) * 10, *(1,) * 10))
    with pytest.raises(InputError, match="a row has 20 tokens but a pack holds 19"):
        plan_families([row, row], 19)
