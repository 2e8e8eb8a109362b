"""The embedded policy's network: Qwen2 architecture in the ordinary Hugging Face layout."""

from __future__ import annotations

from pathlib import Path

import torch
from pydantic import Field, model_validator
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM

from .conversation import END_OF_TURN_ID, PADDING_ID
from .copying import add_copying_heads
from .strict import InputError, Strict


class ModelShape(Strict):
    hidden: int = Field(default=192, gt=0)
    layers: int = Field(default=4, gt=0)
    heads: int = Field(default=6, gt=0)
    kv_heads: int = Field(default=2, gt=0)
    feed_forward: int = Field(default=512, gt=0)
    context: int = Field(default=4096, gt=0)
    """Longest prompt plus reply in tokens."""
    rope_theta: float = Field(default=10_000.0, gt=1)
    copying_heads: bool = False
    """First weights with heads that copy (copying.py)."""

    @model_validator(mode="after")
    def _divisible(self) -> ModelShape:
        if self.hidden % self.heads != 0 or (self.hidden // self.heads) % 2 != 0:
            raise ValueError(f"hidden {self.hidden} must be an even multiple of heads {self.heads}")
        if self.heads % self.kv_heads != 0:
            raise ValueError(f"heads {self.heads} must be a multiple of kv_heads {self.kv_heads}")
        return self


def new_model(shape: ModelShape, vocabulary: int, seed: int) -> Qwen2ForCausalLM:
    """Random weights in fp32, the same for the same seed; the caller's random state is left alone."""
    config = Qwen2Config(
        vocab_size=vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.feed_forward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=shape.context,
        rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
        tie_word_embeddings=True,
        use_cache=True,
        bos_token_id=None,
        eos_token_id=END_OF_TURN_ID,
        pad_token_id=PADDING_ID,
        dtype="float32",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen2ForCausalLM(config)
    if shape.copying_heads:
        add_copying_heads(model, seed)
    return model.float()


def load_model(folder: Path) -> Qwen2ForCausalLM:
    """Raises InputError where the folder holds no such model."""
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder} holds no model (config.json is missing)")
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"the model in {folder} cannot be loaded: {error}") from None
    if not isinstance(model, Qwen2ForCausalLM):
        raise InputError(f"{folder} holds a {type(model).__name__}; only Qwen2 is supported so far")
    return model
