from __future__ import annotations

from pathlib import Path

import pytest
import torch
from prime_learner.commands import rows_of_conversations
from prime_learner.model import ModelShape, new_model
from prime_learner.rows import TrainingRow
from prime_learner.tokenizer import load_tokenizer
from tests.demonstrations import demonstrations
from tests.make_fixtures import TOKENIZER
from tokenizers import Tokenizer
from transformers import Qwen2ForCausalLM

TINY = ModelShape(hidden=32, layers=2, heads=4, kv_heads=2, feed_forward=48, context=512)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return load_tokenizer(TOKENIZER)


@pytest.fixture(scope="session")
def rows(tokenizer: Tokenizer) -> tuple[TrainingRow, ...]:
    return rows_of_conversations(demonstrations(12), tokenizer)


@pytest.fixture
def tiny_shape() -> ModelShape:
    return TINY


def write_lines(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


def spread_model(shape: ModelShape, vocabulary: int) -> Qwen2ForCausalLM:
    """With weights far from uniform, so that each logit matters; the same each time."""
    model = new_model(shape, vocabulary, seed=1)
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
    return model
