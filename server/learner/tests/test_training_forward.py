"""The forward pass that training uses on a CPU against the library's own modules."""

from __future__ import annotations

import random

import pytest
import torch
from prime_learner import training_forward
from prime_learner.attention import learnt_logits, packed_logits, use_packed_attention
from prime_learner.model import ModelShape, new_model
from prime_learner.packing import PackedRows, pack
from prime_learner.rows import TrainingRow
from torch import Tensor
from transformers import Qwen2ForCausalLM

VOCABULARY = 50


def _model(shape: ModelShape) -> Qwen2ForCausalLM:
    model = new_model(shape, VOCABULARY, seed=1)
    torch.manual_seed(0)
    with torch.no_grad():  # Norms start at one and biases at zero: what is left out would not show.
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
    use_packed_attention(model)
    return model


def _packed(seed: int, lengths: tuple[int, ...] = (17, 2, 70, 9)) -> PackedRows:
    chosen = random.Random(seed)
    return pack(
        [
            TrainingRow(
                id=str(length),
                # Token 0 is padding: the library gives its embedding no gradient.
                ids=tuple(chosen.randrange(VOCABULARY) for _ in range(length)),
                loss_mask=(0, 1, *(chosen.randrange(2) for _ in range(length - 2))),
            )
            for length in lengths
        ]
    )


def _loss(logits: Tensor, packed: PackedRows) -> Tensor:
    places = packed.loss_mask.nonzero()[:, 0]
    return torch.nn.functional.cross_entropy(logits, packed.ids[places])


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 2), (4, 4), (4, 1)])
def test_logits_and_gradients_are_those_of_the_modules(
    tiny_shape: ModelShape, heads: int, kv_heads: int
) -> None:
    shape = tiny_shape.model_copy(update={"heads": heads, "kv_heads": kv_heads})
    packed = _packed(3)
    places = packed.loss_mask.nonzero()[:, 0] - 1
    library, fast = _model(shape), _model(shape)
    assert training_forward.can_use(fast)
    expected = packed_logits(library, packed, places)
    actual = learnt_logits(fast, packed)
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)
    _loss(expected, packed).backward()
    _loss(actual, packed).backward()
    for (name, weight), other in zip(fast.named_parameters(), library.parameters(), strict=True):
        assert weight.grad is not None
        assert weight.grad.any(), name
        torch.testing.assert_close(weight.grad, other.grad, atol=1e-6, rtol=1e-4, msg=name)


def test_weights_that_are_not_fp32_go_through_the_modules(tiny_shape: ModelShape) -> None:
    model = _model(tiny_shape).bfloat16()
    assert not training_forward.can_use(model)
    packed = _packed(4)
    logits = learnt_logits(model, packed)
    assert logits.dtype == torch.float32
    assert logits.shape == (int(packed.loss_mask.sum()), VOCABULARY)
