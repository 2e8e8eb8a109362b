"""ONNX export with a key/value cache, in the input and output names that ONNX runtimes expect."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn
from transformers import Qwen2ForCausalLM

OPSET = 20


class CachedDecoder(nn.Module):
    """The same network with the cache as plain inputs and outputs. B sequences, S new tokens each,
    P cache slots before them, L layers, K kv heads, D head size.

    Slots of the cache may be empty (ragged lengths): what `attention_mask` says 0 for is never seen,
    whatever it holds as long as it is finite. Where the padding stands does not matter.
    """

    inverse_frequencies: Tensor

    def __init__(self, model: Qwen2ForCausalLM) -> None:
        super().__init__()
        config = model.config
        self.model = model
        self.heads: int = config.num_attention_heads
        self.kv_heads: int = config.num_key_value_heads
        self.head_size: int = config.hidden_size // config.num_attention_heads
        self.register_buffer(
            "inverse_frequencies", model.model.rotary_emb.inv_freq.float().clone(), persistent=False
        )

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor, *past: Tensor
    ) -> tuple[Tensor, ...]:
        """
        Args:
            input_ids: int64 [B, S]
            attention_mask: int64 [B, P + S], 1: may be seen
            position_ids: int64 [B, S], place of each token in its own sequence, from 0
            past: key and value of layer 0, of layer 1 …: float32 [B, K, P, D]

        Returns:
            logits float32 [B, S, V]; then key and value of each layer with the new tokens: [B, K, P + S, D]
        """
        hidden = self.model.model.embed_tokens(input_ids)
        angles = position_ids[..., None].float() * self.inverse_frequencies
        angles = torch.cat((angles, angles), dim=-1)[:, None]
        cos, sin = torch.cos(angles), torch.sin(angles)
        hidden_keys = _hidden_keys(attention_mask, input_ids.shape[1])
        present: list[Tensor] = []
        for index, layer in enumerate(self.model.model.layers):
            attention = layer.self_attn
            normed = layer.input_layernorm(hidden)
            query = _rotate(self._split(attention.q_proj(normed), self.heads), cos, sin)
            key = _rotate(self._split(attention.k_proj(normed), self.kv_heads), cos, sin)
            value = self._split(attention.v_proj(normed), self.kv_heads)
            key = torch.cat((past[2 * index], key), dim=2)
            value = torch.cat((past[2 * index + 1], value), dim=2)
            present += [key, value]
            hidden = hidden + attention.o_proj(self._attend(query, key, value, hidden_keys))
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        return (self.model.lm_head(self.model.model.norm(hidden)), *present)

    def _split(self, flat: Tensor, heads: int) -> Tensor:
        """[B, S, heads · D] → [B, heads, S, D]"""
        return torch.unflatten(flat, 2, (heads, self.head_size)).transpose(1, 2)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, hidden_keys: Tensor) -> Tensor:
        """[B, heads, S, D] with [B, K, P + S, D] → [B, S, heads · D]. Heads share keys in groups."""
        grouped = torch.unflatten(query, 1, (self.kv_heads, self.heads // self.kv_heads))
        scores = grouped @ key[:, :, None].transpose(-1, -2) * self.head_size**-0.5
        # A finite number and not −inf: a padded query sees nothing, and its NaN would spread.
        scores = scores.masked_fill(hidden_keys[:, None, None], -1e9)
        mixed = torch.softmax(scores, dim=-1) @ value[:, :, None]
        return mixed.flatten(1, 2).transpose(1, 2).flatten(2)


def _rotate(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat((-second, first), dim=-1) * sin


def _hidden_keys(attention_mask: Tensor, new: int) -> Tensor:
    """bool [B, S, P + S]: true where a new token must not look (padding, or later than itself)."""
    slots = torch.arange(attention_mask.shape[1], device=attention_mask.device)
    own_slot = slots[attention_mask.shape[1] - new :]
    later = slots[None, :] > own_slot[:, None]
    return later[None] | (attention_mask == 0)[:, None]


@dataclass(frozen=True)
class ExportManifest:
    """export.json, next to model.onnx. `sha256` is that of model.onnx."""

    version: int
    opset: int
    sha256: str
    vocabulary: int
    layers: int
    kv_heads: int
    head_size: int
    context: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def cache_names(layers: int, side: str) -> list[str]:
    """`past_key_values.0.key`, `past_key_values.0.value` … (side `past_key_values` or `present`)."""
    return [f"{side}.{layer}.{part}" for layer in range(layers) for part in ("key", "value")]


def export_onnx(model: Qwen2ForCausalLM, folder: Path) -> ExportManifest:
    """Writes model.onnx (weights inside, fp32) and export.json into `folder`, which exists."""
    decoder = CachedDecoder(model).eval()
    config = model.config
    layers: int = config.num_hidden_layers
    inputs = ["input_ids", "attention_mask", "position_ids", *cache_names(layers, "past_key_values")]
    outputs = ["logits", *cache_names(layers, "present")]
    path = folder / "model.onnx"
    program = torch.onnx.export(
        decoder,
        _example(decoder, layers),
        input_names=inputs,
        output_names=outputs,
        opset_version=OPSET,
        dynamo=True,
        dynamic_shapes=_dynamic_shapes(layers),
        verbose=False,
    )
    assert program is not None
    program.save(str(path), external_data=False)
    onnx.checker.check_model(str(path), full_check=True)
    manifest = ExportManifest(
        version=1,
        opset=OPSET,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        vocabulary=config.vocab_size,
        layers=layers,
        kv_heads=decoder.kv_heads,
        head_size=decoder.head_size,
        context=config.max_position_embeddings,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
    )
    (folder / "export.json").write_text(json.dumps(asdict(manifest), indent=1) + "\n", "utf-8")
    return manifest


def _example(decoder: CachedDecoder, layers: int) -> tuple[Tensor, ...]:
    batch, past, new = 2, 5, 3
    cache = torch.zeros(batch, decoder.kv_heads, past, decoder.head_size)
    return (
        torch.ones(batch, new, dtype=torch.int64),
        torch.ones(batch, past + new, dtype=torch.int64),
        torch.arange(past, past + new).repeat(batch, 1),
        *(cache.clone() for _ in range(2 * layers)),
    )


def _dynamic_shapes(layers: int) -> tuple[object, ...]:
    batch, past, new, total = (torch.export.Dim.DYNAMIC,) * 4
    return (
        {0: batch, 1: new},
        {0: batch, 1: total},
        {0: batch, 1: new},
        tuple({0: batch, 2: past} for _ in range(2 * layers)),
    )
