from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
import torch
from prime_learner.export import OPSET, CachedDecoder, export_onnx
from prime_learner.model import new_model
from tests.conftest import TINY
from transformers import Qwen2ForCausalLM

VOCABULARY = 40
TOLERANCE = 1e-4
Array = npt.NDArray[np.generic]


class Runner:
    """The exported model with its cache; the cache may be padded (ragged lengths)."""

    def __init__(self, folder: Path) -> None:
        self.manifest = json.loads((folder / "export.json").read_text())
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"))

    def empty(self, batch: int) -> list[Array]:
        shape = (batch, self.manifest["kv_heads"], 0, self.manifest["head_size"])
        return [np.zeros(shape, np.float32) for _ in range(2 * self.manifest["layers"])]

    def __call__(
        self, ids: Array, mask: Array, places: Array, cache: Sequence[Array]
    ) -> tuple[Array, list[Array]]:
        feeds = dict(zip(self.manifest["inputs"], [ids, mask, places, *cache], strict=True))
        logits, *present = self.session.run(self.manifest["outputs"], feeds)
        return logits, present


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Qwen2ForCausalLM, Runner]:
    torch.manual_seed(0)
    model = new_model(TINY, VOCABULARY, seed=1).eval()
    with torch.no_grad():  # Biases start at zero: a forgotten one would not show.
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.05)
    folder = tmp_path_factory.mktemp("export")
    manifest = export_onnx(model, folder)
    assert manifest.opset == OPSET
    assert manifest.sha256 == hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    assert sorted(path.name for path in folder.iterdir()) == ["export.json", "model.onnx"]
    return model, Runner(folder)


def _reference(model: Qwen2ForCausalLM, ids: Sequence[int]) -> Array:
    with torch.no_grad():
        values: Array = model(input_ids=torch.tensor([ids])).logits[0].numpy()
    return values


def _ids(seed: int, count: int) -> list[int]:
    return [int(n) for n in np.random.default_rng(seed).integers(0, VOCABULARY, count)]


def _check(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE, rtol=0)


def test_one_sequence_in_turns_with_a_reused_prefix(
    exported: tuple[Qwen2ForCausalLM, Runner],
) -> None:
    model, run = exported
    ids = _ids(1, 60)
    expected = _reference(model, ids)
    cache = run.empty(1)
    done = 0
    # A prompt, single tokens, an observation, a single token: as in an attempt.
    for count in (25, 1, 1, 1, 30, 1, 1):
        part = np.array([ids[done : done + count]])
        places = np.arange(done, done + count)[None]
        mask = np.ones((1, done + count), np.int64)
        logits, cache = run(part, mask, places, cache)
        _check(logits[0], expected[done : done + count])
        done += count
    # Back to a prefix: what comes after it is cut from the cache, and another end follows.
    other = [*ids[:25], *_ids(2, 8)]
    cut = [entry[:, :, :25] for entry in cache]
    logits, _ = run(
        np.array([other[25:]]), np.ones((1, 33), np.int64), np.arange(25, 33)[None], cut
    )
    _check(logits[0], _reference(model, other)[25:])


@pytest.mark.parametrize("side", ["left", "right"])
def test_four_ragged_sequences_over_a_shared_prefix(
    exported: tuple[Qwen2ForCausalLM, Runner], side: str
) -> None:
    model, run = exported
    prefix = _ids(3, 10)
    ends = [_ids(10 + n, length) for n, length in enumerate((1, 4, 7, 7))]
    width = max(map(len, ends))
    logits, shared = run(np.array([prefix]), np.ones((1, 10), np.int64), np.arange(10)[None], run.empty(1))
    _check(logits[0], _reference(model, prefix))
    cache = [np.repeat(entry, 4, axis=0) for entry in shared]

    ids = np.zeros((4, width), np.int64)
    places = np.zeros((4, width), np.int64)
    mask = np.ones((4, 10 + width), np.int64)
    spans = []
    for n, end in enumerate(ends):
        span = slice(0, len(end)) if side == "right" else slice(width - len(end), width)
        spans.append(span)
        ids[n, span] = end
        places[n, span] = np.arange(10, 10 + len(end))
        mask[n, 10:] = 0
        mask[n, 10:][span] = 1
    logits, cache = run(ids, mask, places, cache)
    assert np.isfinite(logits).all()
    for n, end in enumerate(ends):
        _check(logits[n, spans[n]], _reference(model, [*prefix, *end])[10:])

    # One token more for each, behind slots that hold padding.
    mask = np.concatenate((mask, np.ones((4, 1), np.int64)), axis=1)
    places = np.array([[10 + len(end)] for end in ends])
    logits, _ = run(np.full((4, 1), 7), mask, places, cache)
    for n, end in enumerate(ends):
        _check(logits[n, 0], _reference(model, [*prefix, *end, 7])[-1])


def test_a_sequence_that_is_padding_only_stays_finite(
    exported: tuple[Qwen2ForCausalLM, Runner],
) -> None:
    model, run = exported
    ids = _ids(4, 5)
    mask = np.array([[1] * 5, [0] * 5])
    logits, cache = run(np.array([ids, [0] * 5]), mask, np.array([range(5), [0] * 5]), run.empty(2))
    assert all(np.isfinite(entry).all() for entry in (logits, *cache))
    _check(logits[0], _reference(model, ids))


def test_the_decoder_is_the_same_network(exported: tuple[Qwen2ForCausalLM, Runner]) -> None:
    model, run = exported
    ids = _ids(5, 12)
    cache = [torch.from_numpy(entry) for entry in run.empty(1)]
    with torch.no_grad():
        logits, *_ = CachedDecoder(model)(
            torch.tensor([ids]), torch.ones(1, 12, dtype=torch.int64), torch.arange(12)[None], *cache
        )
    torch.testing.assert_close(logits[0], torch.from_numpy(_reference(model, ids)), atol=1e-5, rtol=0)


def test_names_and_shapes_are_those_of_the_manifest(
    exported: tuple[Qwen2ForCausalLM, Runner],
) -> None:
    _, run = exported
    assert [item.name for item in run.session.get_inputs()] == run.manifest["inputs"]
    assert [item.name for item in run.session.get_outputs()] == run.manifest["outputs"]
    assert run.manifest["inputs"][:4] == [
        "input_ids", "attention_mask", "position_ids", "past_key_values.0.key",
    ]
    assert run.session.get_outputs()[0].shape[2] == VOCABULARY
