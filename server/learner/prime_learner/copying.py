"""First weights that can copy: a previous-token head and an induction head, written down.

Copying what stands in the context ("A B … A" goes on with "B") takes two attention heads in a row, and
a small model finds them only after thousands of steps (Olsson et al. 2022, In-context Learning and
Induction Heads, arXiv:2209.11895). Here they are in the first weights, as ordinary values of the ordinary
layout, and training goes on from there:

* layer 0, the first head of each key/value group: attends to the token before, by position alone, and
  writes some directions of that token's embedding into other directions of the stream;
* layer 1, the same heads: the query is the token's own embedding, the key what layer 0 wrote, so that a
  token attends to the places behind its earlier occurrences; it copies the embedding that it finds there.

E hidden size, D head size, P = D / 2 pairs of the rotary embedding.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from transformers import Qwen2ForCausalLM

from .strict import InputError

# Found by trying: the share of attention on the right place, and how much is copied.
_POSITION_STRENGTH = 14.0
_WRITTEN = 0.03
_MATCH_STRENGTH = 3.0
_COPIED = 0.2
_FAR = 600
"""Tokens over which keys must still match: slow pairs of the rotation carry them."""


def add_copying_heads(model: Qwen2ForCausalLM, seed: int) -> None:
    """Overwrites two heads of layers 0 and 1, in place. The caller's random state is left alone.

    Raises InputError where the shape has no room for them.
    """
    config = model.config
    hidden, groups = config.hidden_size, config.num_key_value_heads
    size = model.model.layers[0].self_attn.head_dim
    shared = config.num_attention_heads // groups
    if config.num_hidden_layers < 2 or 3 * groups * size > hidden:
        raise InputError(
            f"copying heads need two layers and hidden >= {3 * groups * size} (three times kv_heads x head size)"
        )
    frequencies = model.model.rotary_emb.inv_freq
    slow = [pair for pair in range(size // 2) if frequencies[pair] * _FAR < 1.0]
    if not slow:
        raise InputError("copying heads need slower rotations: raise rope_theta")
    generator = torch.Generator().manual_seed(seed)
    basis = torch.linalg.qr(torch.randn(hidden, hidden, generator=generator)).Q.T
    first, second = model.model.layers[0].self_attn, model.model.layers[1].self_attn
    with torch.no_grad():
        # The other heads share keys and values that are large now: silent at first, they learn to speak.
        first.o_proj.weight.zero_()
        second.o_proj.weight.zero_()
        for group in range(groups):
            query = slice(group * shared * size, (group * shared + 1) * size)
            key = slice(group * size, (group + 1) * size)
            read = basis[group * size : (group + 1) * size]
            written = basis[(groups + group) * size : (groups + group + 1) * size]
            copied = basis[(2 * groups + group) * size : (2 * groups + group + 1) * size]
            _previous_token(first, query, key, frequencies)
            first.v_proj.weight[key] = read
            first.v_proj.bias[key] = 0
            first.o_proj.weight[:, query] = _WRITTEN * written.T
            places = _slow_places(slow, size)
            for part in (second.q_proj, second.k_proj):
                part.bias[query if part is second.q_proj else key] = 0
            second.q_proj.weight[query] = _MATCH_STRENGTH * _at(places, read, size)
            second.k_proj.weight[key] = _MATCH_STRENGTH * _at(places, written, size)
            second.v_proj.weight[key] = copied
            second.v_proj.bias[key] = 0
            second.o_proj.weight[:, query] = _COPIED * copied.T


def _previous_token(
    attention: torch.nn.Module, query: slice, key: slice, frequencies: Tensor
) -> None:
    """Scores that depend on the distance alone and are highest at 1: the key is turned by one place."""
    size = 2 * len(frequencies)
    fast = (frequencies > 0.01).float()
    strength = math.sqrt(_POSITION_STRENGTH * math.sqrt(size))
    side = strength * fast / fast.sum().sqrt() * math.sqrt(len(frequencies) / 2)
    attention.q_proj.weight[query] = 0
    attention.k_proj.weight[key] = 0
    attention.k_proj.bias[key] = torch.cat((side, torch.zeros_like(side)))
    attention.q_proj.bias[query] = torch.cat(
        (side * torch.cos(frequencies), -side * torch.sin(frequencies))
    )


def _slow_places(slow: list[int], size: int) -> list[int]:
    """Places in a head that turn slowly: pair i is at i and i + P."""
    return [*slow, *(pair + size // 2 for pair in slow)]


def _at(places: list[int], rows: Tensor, size: int) -> Tensor:
    """[D, E]: the first rows at these places, zero elsewhere."""
    placed = torch.zeros(size, rows.shape[1])
    placed[places] = rows[: len(places)]
    return placed
