"""A model as a request names it: a folder in the Hugging Face layout, or a checkpoint of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from safetensors.torch import load_model as load_weights
from tokenizers import Tokenizer
from transformers import Qwen2ForCausalLM

from .checkpoint import problem_of
from .model import ModelShape, load_model, new_model
from .strict import InputError, Strict
from .tokenizer import load_tokenizer


class ModelFolder(Strict):
    kind: Literal["model"]
    folder: Path
    """With its tokenizer."""


class CheckpointFolder(Strict):
    """Checkpoints hold weights and no configuration: it comes with the request."""

    kind: Literal["checkpoint"]
    folder: Path
    """`checkpoints/step-…` of a warm start or a GRPO run, which may still be going on."""
    tokenizer: Path
    shape: ModelShape = ModelShape()


ModelSource = Annotated[ModelFolder | CheckpointFolder, Field(discriminator="kind")]


def load_source(source: ModelFolder | CheckpointFolder) -> tuple[Qwen2ForCausalLM, Tokenizer]:
    """Raises InputError: not there, damaged, or of another shape or vocabulary."""
    if isinstance(source, ModelFolder):
        tokenizer = load_tokenizer(source.folder)
        model = load_model(source.folder)
        check_vocabulary(model, tokenizer, source.folder)
        return model, tokenizer
    problem = problem_of(source.folder)
    if problem is not None:
        raise InputError(
            f"the checkpoint {source.folder} cannot be used: {problem} (a run that goes on removes old ones)"
        )
    tokenizer = load_tokenizer(source.tokenizer)
    model = new_model(source.shape, tokenizer.get_vocab_size(), seed=0)
    try:
        load_weights(model, source.folder / "model.safetensors")
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"the weights in {source.folder} do not fit shape and tokenizer of the request: {error}"
        ) from None
    return model, tokenizer


def check_vocabulary(model: Qwen2ForCausalLM, tokenizer: Tokenizer, where: Path) -> None:
    if model.config.vocab_size != tokenizer.get_vocab_size():
        raise InputError(
            f"{where}: the model has {model.config.vocab_size} entries, its tokenizer "
            f"{tokenizer.get_vocab_size()}"
        )
