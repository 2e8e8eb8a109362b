"""Causal attention within each row of a pack, as an attention function of transformers.

It takes the same arguments as the flash-attention functions there (`cu_seq_lens_q`), so that a GPU
can use those instead. Rows are attended to one by one: a mask over the whole pack would cost the
square of its length.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface, PreTrainedModel, Qwen2ForCausalLM

from . import training_forward
from .packing import PackedChoices, PackedRows

NAME = "prime_learner_packed"

_EXCLUDED = -1e9
"""Logit of an id that could not come. Finite: in an entropy 0 · -1e9 is 0, but 0 · -inf is not a number."""


def packed_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    cu_seq_lens_q: Tensor,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: object,
) -> tuple[Tensor, None]:
    """Shapes: query [1, heads, T, D]; key and value [1, kv heads, T, D]. Returns [1, T, heads, D]."""
    assert attention_mask is None, "a pack needs no mask"
    lengths = torch.diff(cu_seq_lens_q).tolist()
    repeats = query.shape[1] // key.shape[1]
    if repeats > 1:
        key = key.repeat_interleave(repeats, dim=1)
        value = value.repeat_interleave(repeats, dim=1)
    parts = [
        functional.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout, is_causal=True, scale=scaling
        )
        for q, k, v in zip(
            torch.split(query, lengths, dim=2),
            torch.split(key, lengths, dim=2),
            torch.split(value, lengths, dim=2),
            strict=True,
        )
    ]
    return torch.cat(parts, dim=2).transpose(1, 2).contiguous(), None


def use_packed_attention(model: PreTrainedModel) -> None:
    """Makes `model` take packs (`packed_logits`) and nothing else."""
    AttentionInterface.register(NAME, packed_attention)
    model.set_attn_implementation(NAME)


def packed_logits(model: nn.Module, packed: PackedRows, places: Tensor | None = None) -> Tensor:
    """float [T, V]: what the model says after each token. `model` was given to `use_packed_attention`.

    places: int64 [N], only after these tokens: [N, V].
    """
    assert packed.parents is None, "transformers' modules know no common beginnings"
    output = model(
        input_ids=packed.ids[None],
        position_ids=packed.positions[None],
        # No mask at all, said in the form that keeps transformers from making one.
        attention_mask={"full_attention": None},
        cu_seq_lens_q=packed.cu_seqlens,
        use_cache=False,
        logits_to_keep=0 if places is None else places,
    )
    logits: Tensor = output.logits[0]
    return logits


def token_logprobs(logits: Tensor, packed: PackedRows) -> Tensor:
    """float [T]: log-probability of each token given those before it in its row; 0 for a row's first.

    Over the whole vocabulary: choices are not looked at.

    logits: [T, V]
    """
    predicted = functional.log_softmax(logits[:-1].float(), dim=-1)
    chosen = predicted.gather(1, packed.ids[1:, None])[:, 0]
    shifted = torch.cat((chosen.new_zeros(1), chosen))
    return torch.where(packed.positions == 0, shifted.new_zeros(()), shifted)


def learnt_logprobs(model: nn.Module, packed: PackedRows) -> Tensor:
    """float [N]: log-probability of each of the N learnt tokens, in their order.

    The same as `token_logprobs` under the mask, without the work for tokens that are not learnt, and
    where a row has choices of the distribution over these.
    """
    places = packed.loss_mask.nonzero()[:, 0]
    logits = learnt_logits(model, packed)
    return -functional.cross_entropy(logits, packed.ids[places], reduction="none")


def learnt_logits(model: nn.Module, packed: PackedRows) -> Tensor:
    """float32 [N, V]: what the model says where each of the N learnt tokens is predicted.

    Softmax of a line is the distribution that the token was drawn from: see `within_choices`.
    """
    logits = vocabulary_logits(model, packed)
    return logits if packed.choices is None else within_choices(logits, packed.choices)


def vocabulary_logits(model: nn.Module, packed: PackedRows) -> Tensor:
    """float32 [N, V]: as `learnt_logits`, choices not looked at."""
    places = packed.loss_mask.nonzero()[:, 0] - 1
    if isinstance(model, Qwen2ForCausalLM) and training_forward.can_use(model):
        return training_forward.learnt_logits(model, packed, places)
    return packed_logits(model, packed, places).float()


def can_share(model: nn.Module) -> bool:
    """Whether `learnt_logits` takes packs of families (sharing.py)."""
    return isinstance(model, Qwen2ForCausalLM) and training_forward.can_use(model)


def within_choices(logits: Tensor, choices: PackedChoices) -> Tensor:
    """[N, V] → [N, V]: in a line with a choice logit + bias at its ids and -1e9 at all others."""
    has_choice = torch.zeros(len(logits), dtype=torch.bool, device=logits.device)
    has_choice[choices.place] = True
    excluded = torch.where(has_choice[:, None], logits.new_tensor(_EXCLUDED), logits)
    where = (choices.place, choices.id)
    return excluded.index_put(where, logits[where] + choices.bias)
