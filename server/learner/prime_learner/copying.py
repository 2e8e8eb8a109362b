"""First weights that can copy: heads that look back, and a head that finds where the last tokens stood before.

Copying what stands in the context ("A B C D … A B C" goes on with "D") takes two layers of attention, and a
small model finds them only after thousands of steps (Olsson et al. 2022, In-context Learning and Induction
Heads, arXiv:2209.11895). Here they are in the first weights, as ordinary values of the ordinary layout, and
training goes on from there:

* layer 0, the first head of each of the first (at most three) key/value groups: attends to the token 1, 2 and 3
  places before, by position alone, and writes some directions of its embedding into a part of the stream;
* layer 1, the first head: the query is the token and the two before it, the key the three tokens before the
  place, so that a token attends to the places behind earlier occurrences of the last three tokens. It copies
  the embedding that it finds there.

Two tokens are not enough for code, where the same two stand in many lines: with one, two and three of them 39 %,
75 % and 85 % of the tokens of a repeated module come out before any training.

E hidden size, D head size, P = D / 2 pairs of the rotary embedding, W width of a part of the stream.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from transformers import Qwen2ForCausalLM

from .strict import InputError

# Found by trying: the share of attention on the right place, and how much is copied.
_POSITION_STRENGTH = 14.0
_WRITTEN = 0.06
_MATCH_STRENGTH = 4.0
_COPIED = 0.6
_FAR = 600
"""Tokens over which keys must still match: slow pairs of the rotation carry them."""
_SHARES = ((1.0,), (0.58, 0.42), (0.42, 0.32, 0.26))
"""Of the numbers that match, for the nearest token, the one before it, and so on; by how many there are."""


def add_copying_heads(model: Qwen2ForCausalLM, seed: int) -> None:
    """Overwrites heads of layers 0 and 1, in place. The caller's random state is left alone.

    Raises InputError where the shape has no room for them.
    """
    config = model.config
    hidden, groups = config.hidden_size, config.num_key_value_heads
    if config.num_hidden_layers < 2:
        raise InputError("copying heads need two layers")
    first, second = model.model.layers[0].self_attn, model.model.layers[1].self_attn
    size = first.head_dim
    frequencies = model.model.rotary_emb.inv_freq
    places = _slow_places(frequencies)
    shares = _SHARES[min(groups, len(_SHARES)) - 1]
    counts = [round(share * len(places)) for share in shares]
    if counts[-1] == 0:
        raise InputError("copying heads need slower rotations or larger heads: raise rope_theta")
    width = counts[0]
    copied_width = min(size, hidden - (len(counts) + 1) * width)
    if copied_width < width:
        raise InputError(
            f"copying heads need hidden >= {(len(counts) + 2) * width} with heads of {size}, here it is {hidden}"
        )
    generator = torch.Generator().manual_seed(seed)
    basis = torch.linalg.qr(torch.randn(hidden, hidden, generator=generator)).Q.T
    # Part 0: the token itself; part d: the token d places before, as layer 0 writes it.
    parts = [basis[at * width : (at + 1) * width] for at in range(len(counts) + 1)]
    copied = basis[len(parts) * width :][:copied_width]
    per_group = config.num_attention_heads // groups * size
    with torch.no_grad():
        # The other heads are silent at first and learn to speak: keys and values that they share are large now.
        for attention in (first, second):
            attention.o_proj.weight.zero_()
        for group in range(len(counts)):
            query = slice(group * per_group, group * per_group + size)
            key = slice(group * size, (group + 1) * size)
            _look_back(first, query, key, frequencies, group + 1)
            first.v_proj.weight[key] = 0
            first.v_proj.bias[key] = 0
            first.v_proj.weight[key.start : key.start + width] = parts[0]
            written = slice(query.start, query.start + width)
            first.o_proj.weight[:, written] = _WRITTEN * parts[group + 1].T
        for part in (second.q_proj, second.k_proj, second.v_proj):
            part.weight[:size] = 0
            part.bias[:size] = 0
        rest = iter(places)
        for back, count in enumerate(counts):
            for number, place in zip(range(count), rest, strict=False):
                second.q_proj.weight[place] = _MATCH_STRENGTH * parts[back][number]
                second.k_proj.weight[place] = _MATCH_STRENGTH * parts[back + 1][number]
        second.v_proj.weight[:copied_width] = copied
        second.o_proj.weight[:, :copied_width] = _COPIED * copied.T


def _look_back(
    attention: torch.nn.Module, query: slice, key: slice, frequencies: Tensor, distance: int
) -> None:
    """Scores that depend on the distance alone and are highest at `distance`: the query is turned by it."""
    size = 2 * len(frequencies)
    fast = (frequencies > 0.01).float()
    strength = math.sqrt(_POSITION_STRENGTH * math.sqrt(size))
    side = strength * fast / fast.sum().sqrt() * math.sqrt(len(frequencies) / 2)
    attention.q_proj.weight[query] = 0
    attention.k_proj.weight[key] = 0
    attention.k_proj.bias[key] = torch.cat((side, torch.zeros_like(side)))
    turned = distance * frequencies
    attention.q_proj.bias[query] = torch.cat((side * torch.cos(turned), -side * torch.sin(turned)))


def _slow_places(frequencies: Tensor) -> list[int]:
    """Places in a head that turn slowly: pair i is at i and i + P."""
    pairs = len(frequencies)
    slow = [pair for pair in range(pairs) if frequencies[pair] * _FAR < 1.0]
    return [*slow, *(pair + pairs for pair in slow)]
