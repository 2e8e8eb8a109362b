"""Heads that copy, in the first weights."""

from __future__ import annotations

import random

import pytest
import torch
from prime_learner.model import ModelShape, new_model
from prime_learner.strict import InputError
from transformers import Qwen2ForCausalLM

SHAPE = ModelShape(heads=3, kv_heads=3, rope_theta=1e10)
VOCABULARY = 1536


def _share_copied(model: Qwen2ForCausalLM, symbols: int = VOCABULARY - 7) -> float:
    """Share of the second halves of doubled random sequences that comes out, most likely token first.

    symbols: so many tokens to choose from; with few of them each stands in many places.
    """
    chance = random.Random(1)
    right = total = 0
    for _ in range(8):
        half = chance.choices(range(7, 7 + symbols), k=60)
        ids = torch.tensor([half + half])
        with torch.no_grad():
            said = model(input_ids=ids).logits[0].argmax(-1)
        right += int((said[60:-1] == ids[0, 61:]).sum())
        total += 59
    return right / total


def test_copies_before_it_has_learnt_anything() -> None:
    copying = new_model(SHAPE.model_copy(update={"copying_heads": True}), VOCABULARY, seed=3)
    assert _share_copied(copying) > 0.9
    assert _share_copied(new_model(SHAPE, VOCABULARY, seed=3)) < 0.05


def test_six_tokens_tell_apart_what_few_cannot() -> None:
    copying = new_model(SHAPE.model_copy(update={"copying_heads": True}), VOCABULARY, seed=3)
    # Two symbols: each pair stands in fifteen places, six of them in one or two.
    assert _share_copied(copying, symbols=2) > 0.7


def test_is_the_same_for_the_same_seed() -> None:
    shape = SHAPE.model_copy(update={"copying_heads": True})
    first, second = (new_model(shape, 64, seed=5).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"layers": 2}, "copying heads need three layers and three heads"),
        ({"kv_heads": 1}, "copying heads need three layers and three heads"),
        ({"rope_theta": 2.0}, "copying heads need slower rotations"),
    ],
)
def test_says_where_there_is_no_room_for_them(changes: dict[str, float], reason: str) -> None:
    shape = ModelShape.model_validate({**SHAPE.model_dump(), "copying_heads": True, **changes})
    with pytest.raises(InputError, match=reason):
        new_model(shape, 64, seed=1)
