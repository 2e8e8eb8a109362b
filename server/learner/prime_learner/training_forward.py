"""The forward pass of training on a CPU: Qwen2 over a pack, in fewer passes over memory.

The same mathematics as transformers' modules, to rounding, on their own weights. Written out because
on a CPU a third of a step went into element-wise work around the matrix products:

* the last layer is computed only where a learnt token is predicted, from its attention's output on;
* norm weights are multiplied into the (small) matrices behind them; query, key and value are one
  product, and so are gate and up;
* the rotation is one complex product: the two halves of a head are interleaved by the order of the
  rows of its (small) weight, which no dot product of a query and a key notices;
* norm and gate have backward passes written by hand;
* a beginning that several rows have in common is computed once (sharing.py).

T tokens in the pack, N places, H heads, K kv heads, D head size, E hidden size, F feed-forward size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import Qwen2ForCausalLM

from .packing import PackedRows


def learnt_logits(model: Qwen2ForCausalLM, packed: PackedRows, places: Tensor) -> Tensor:
    """float32 [N, V]: what the model says after each of the tokens at `places` (int64 [N])."""
    decoder = model.model
    rotation = _rotation(model, packed.positions)
    layout = _layout(packed)
    embedding = decoder.embed_tokens
    # With its padding index, as the module has it: that token's row gets no gradient from here.
    hidden = functional.embedding(packed.ids, embedding.weight, embedding.padding_idx)
    last = len(decoder.layers) - 1
    for index, layer in enumerate(decoder.layers):
        mixed = _attention(layer, hidden, rotation, layout)
        if index == last:
            mixed, hidden = mixed[places], hidden[places]
        hidden = torch.addmm(hidden, mixed, layer.self_attn.o_proj.weight.t())
        hidden = _feed_forward(layer, hidden)
    weight = model.lm_head.weight * decoder.norm.weight
    logits: Tensor = _unit_norm(hidden, decoder.norm.variance_epsilon) @ weight.t()
    return logits


def can_use(model: Qwen2ForCausalLM) -> bool:
    """Whether `learnt_logits` says the same as the model: fp32 on a CPU, and nothing unusual in it."""
    config = model.config
    weight = model.lm_head.weight
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and config.hidden_act == "silu"
        and not config.use_sliding_window
        and config.attention_dropout == 0
        and model.model.rotary_emb.rope_type == "default"
    )


@dataclass(frozen=True)
class _Children:
    """C segments that go on from one parent of P tokens, the longest of them S tokens long."""

    slots: Tensor
    """int64 [C, S]: where in the pack their tokens are; behind the end of a segment any place."""
    mask: Tensor
    """bool [S, P + S]: what each sees, the parent first. What is behind the end of one is seen by nobody
    that counts."""
    kept: Tensor
    """int64 [tokens]: of C · S, those that are tokens, as they come in the pack."""


@dataclass(frozen=True)
class _Layout:
    lengths: list[int]
    """Of the segments."""
    children: dict[int, _Children]
    """By the segment that they go on from."""
    is_child: list[bool]


def _layout(packed: PackedRows) -> _Layout:
    lengths: list[int] = torch.diff(packed.cu_seqlens).tolist()
    starts: list[int] = packed.cu_seqlens.tolist()
    parents = packed.parents or (None,) * len(lengths)
    members: dict[int, list[int]] = {}
    for index, parent in enumerate(parents):
        if parent is not None:
            members.setdefault(parent, []).append(index)
    children: dict[int, _Children] = {}
    for parent, indices in members.items():
        own = torch.tensor([lengths[index] for index in indices])
        steps = torch.arange(int(own.max()))
        valid = steps[None] < own[:, None]
        begins = torch.tensor([starts[index] for index in indices])
        seen = torch.ones(len(steps), lengths[parent] + len(steps), dtype=torch.bool)
        children[parent] = _Children(
            slots=torch.where(valid, begins[:, None] + steps, begins[:, None]),
            mask=seen.tril(diagonal=lengths[parent]),
            kept=valid.flatten().nonzero()[:, 0],
        )
    return _Layout(lengths, children, [parent is not None for parent in parents])


def _attention(layer: Any, hidden: Tensor, rotation: Tensor, layout: _Layout) -> Tensor:
    """[T, E] → [T, H · D], before the output projection. Causal within each row."""
    module = layer.self_attn
    size: int = module.head_dim
    parts = (module.q_proj, module.k_proj, module.v_proj)
    heads, kv_heads = (part.weight.shape[0] // size for part in parts[:2])
    norm = layer.input_layernorm
    weight = torch.cat(
        [_interleave(part.weight, size) for part in parts[:2]] + [parts[2].weight]
    )
    bias = torch.cat([_interleave(part.bias, size) for part in parts[:2]] + [parts[2].bias])
    flat = torch.addmm(
        bias, _unit_norm(hidden, norm.variance_epsilon), (weight * norm.weight).t()
    )
    turning, value = torch.split(flat, [(heads + kv_heads) * size, kv_heads * size], dim=1)
    turned = torch.unflatten(_turn(turning, rotation), 1, (-1, size))
    query, key = torch.split(turned, [heads, kv_heads], dim=1)
    value = torch.unflatten(value, 1, (kv_heads, size))
    shared = heads // kv_heads
    # [K, H / K, T, D]: the heads that share a key are a batch of their own, so nothing is repeated.
    query = torch.unflatten(query, 1, (kv_heads, shared)).permute(1, 2, 0, 3)
    key, value = (
        part.transpose(0, 1)[:, None].expand(-1, shared, -1, -1) for part in (key, value)
    )
    segments = zip(
        torch.split(query, layout.lengths, dim=2),
        torch.split(key, layout.lengths, dim=2),
        torch.split(value, layout.lengths, dim=2),
        layout.is_child,
        strict=True,
    )
    mixed: list[Tensor] = []
    for index, (q, k, v, is_child) in enumerate(segments):
        if is_child:
            continue  # With its parent.
        own = functional.scaled_dot_product_attention(
            q, k, v, is_causal=True, scale=module.scaling
        )
        mixed.append(own.permute(2, 0, 1, 3).flatten(1))
        children = layout.children.get(index)
        if children is not None:
            mixed.append(_attend_children(query, (key, k), (value, v), children, module.scaling))
    return torch.cat(mixed)


def _attend_children(
    query: Tensor,
    keys: tuple[Tensor, Tensor],
    values: tuple[Tensor, Tensor],
    children: _Children,
    scale: float,
) -> Tensor:
    """[tokens of the children, H · D]. query: of the pack; keys and values: of the pack, of the parent."""

    def batched(part: Tensor) -> Tensor:
        """[K, H / K, T, D] → [C, H, S, D]"""
        return part[:, :, children.slots].permute(2, 0, 1, 3, 4).flatten(1, 2)

    def behind(parent: Tensor, own: Tensor) -> Tensor:
        """[C, H, P + S, D]"""
        first = parent.flatten(0, 1)[None].expand(len(own), -1, -1, -1)
        return torch.cat((first, own), dim=2)

    mixed = functional.scaled_dot_product_attention(
        batched(query),
        behind(keys[1], batched(keys[0])),
        behind(values[1], batched(values[0])),
        attn_mask=children.mask,
        scale=scale,
    )
    # [C, H, S, D] → [C · S, H · D]
    return mixed.transpose(1, 2).flatten(2).flatten(0, 1)[children.kept]


def _feed_forward(layer: Any, hidden: Tensor) -> Tensor:
    """[N, E] → [N, E], with the residual."""
    norm, mlp = layer.post_attention_layernorm, layer.mlp
    weight = torch.cat((mlp.gate_proj.weight, mlp.up_proj.weight)) * norm.weight
    both = _unit_norm(hidden, norm.variance_epsilon) @ weight.t()
    return torch.addmm(hidden, _gate(both), mlp.down_proj.weight.t())


def _interleave(rows: Tensor, size: int) -> Tensor:
    """Rows of a weight or bias, heads one behind the other: of each head 0, D/2, 1, D/2 + 1 …"""
    return torch.unflatten(rows, 0, (-1, 2, size // 2)).transpose(1, 2).flatten(0, 2)


def _rotation(model: Qwen2ForCausalLM, positions: Tensor) -> Tensor:
    """complex64 [T, (H + K) · D / 2]: what turns query and key of each token, as unit numbers."""
    config = model.config
    angles = positions[:, None].float() * model.model.rotary_emb.inv_freq
    unit = torch.polar(torch.ones_like(angles), angles)
    return unit.repeat(1, config.num_attention_heads + config.num_key_value_heads)


class _Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, flat: Tensor, rotation: Tensor) -> Tensor:
        ctx.save_for_backward(rotation)
        return _times(flat, rotation)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (rotation,) = ctx.saved_tensors
        return _times(gradients[0], rotation.conj()), None


def _times(flat: Tensor, rotation: Tensor) -> Tensor:
    pairs = torch.view_as_complex(torch.unflatten(flat, 1, (-1, 2)))
    return torch.view_as_real(pairs * rotation).flatten(1)


_turn: Callable[[Tensor, Tensor], Tensor] = _Turn.apply


class _UnitNorm(torch.autograd.Function):
    """x / √(mean x² + ε), per line."""

    @staticmethod
    def forward(ctx: Any, lines: Tensor, epsilon: float) -> Tensor:
        length = torch.linalg.vector_norm(lines, dim=1, keepdim=True)
        inverse = torch.rsqrt(length * length / lines.shape[1] + epsilon)
        normed = lines * inverse
        ctx.save_for_backward(normed, inverse)
        return normed

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        normed, inverse = ctx.saved_tensors
        (gradient,) = gradients
        along = (gradient * normed).mean(dim=1, keepdim=True)
        return torch.addcmul(gradient, normed, along, value=-1).mul_(inverse), None


_unit_norm: Callable[[Tensor, float], Tensor] = _UnitNorm.apply


class _Gate(torch.autograd.Function):
    """[N, 2F] → [N, F]: silu(first half) · second half."""

    @staticmethod
    def forward(ctx: Any, both: Tensor) -> Tensor:
        ctx.save_for_backward(both)
        gate, up = both.chunk(2, dim=1)
        return functional.silu(gate).mul_(up)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (both,) = ctx.saved_tensors
        (gradient,) = gradients
        gate, up = both.chunk(2, dim=1)
        whole = torch.empty_like(both)
        of_gate, of_up = whole.chunk(2, dim=1)
        torch.mul(functional.silu(gate), gradient, out=of_up)
        torch.ops.aten.silu_backward.grad_input(gradient * up, gate, grad_input=of_gate)
        return whole


_gate: Callable[[Tensor], Tensor] = _Gate.apply
