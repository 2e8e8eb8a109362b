from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from prime_learner.decode_graph import DecodeManifest, export_for_decoding
from prime_learner.strict import InputError
from tests.make_decode_fixtures import SHAPE, cases, small_model
from transformers import Qwen2ForCausalLM

COMMITTED = Path(__file__).parents[3] / "test" / "fixtures" / "onnx-policy"
TOLERANCE = 1e-4
HIDDEN = -1e9


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Qwen2ForCausalLM, Path, DecodeManifest]:
    folder = tmp_path_factory.mktemp("decode")
    model = small_model()
    assert isinstance(model, Qwen2ForCausalLM)
    model.save_pretrained(folder)
    return model, folder, export_for_decoding(folder)


class Runner:
    """A cache with free slots, as the TypeScript decoder keeps it."""

    def __init__(self, folder: Path, manifest: DecodeManifest, batch: int, slots: int) -> None:
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
        self.names = [f"{layer}.{part}" for layer in range(manifest.layers) for part in ("key", "value")]
        shape = (batch, manifest.kv_heads, slots, manifest.head_size)
        # Any finite value may stand in a slot that is hidden.
        self.cache = {name: np.full(shape, 3.0, np.float32) for name in self.names}
        self.lengths = [0] * batch
        self.group = manifest.heads // manifest.kv_heads
        self.slots = slots

    def __call__(self, rows: list[list[int]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        """Rows of ragged lengths, padded at the right. Logits behind the last token of each."""
        width = max(map(len, rows))
        ids = np.zeros((len(rows), width), np.int64)
        places = np.zeros_like(ids)
        bias = np.full((len(rows), 1, 1, self.slots), HIDDEN, np.float32)
        for row, part in enumerate(rows):
            ids[row, : len(part)] = part
            places[row] = self.lengths[row] + np.arange(width)
            bias[row, ..., : self.lengths[row]] = 0
        later = np.triu(np.full((width, width), HIDDEN, np.float32), 1)
        outputs = ["logits", *(f"new.{name}" for name in self.names)]
        logits, *new = self.session.run(
            outputs,
            {
                "input_ids": ids,
                "position_ids": places,
                "newest": np.array([[len(part) - 1] for part in rows]),
                "cache_bias": bias,
                "new_bias": np.tile(later, (self.group, 1))[None, None],
                **{f"past_key_values.{name}": values for name, values in self.cache.items()},
            },
        )
        for row, part in enumerate(rows):
            span = slice(self.lengths[row], self.lengths[row] + len(part))
            for name, values in zip(self.names, new, strict=True):
                self.cache[name][row, :, span] = values[row, :, : len(part)]
            self.lengths[row] += len(part)
        return np.asarray(logits)


def test_ragged_sequences_in_turns(exported: tuple[Qwen2ForCausalLM, Path, DecodeManifest]) -> None:
    model, folder, manifest = exported
    run = Runner(folder, manifest, batch=3, slots=80)
    random = np.random.default_rng(0)
    known: list[list[int]] = [[], [], []]
    for lengths in ((30, 1, 17), (1, 1, 1), (5, 12, 1), (1, 1, 1)):
        rows = [random.integers(7, manifest.vocabulary, length).tolist() for length in lengths]
        logits = run(rows)
        for row, part in enumerate(rows):
            known[row] += part
            with torch.no_grad():
                expected = model(input_ids=torch.tensor([known[row]])).logits[0, -1].numpy()
            np.testing.assert_allclose(logits[row], expected, atol=TOLERANCE, rtol=0)


def test_the_committed_fixture_is_what_is_made(
    exported: tuple[Qwen2ForCausalLM, Path, DecodeManifest],
) -> None:
    model, folder, manifest = exported
    assert (folder / "model.onnx").read_bytes() == (COMMITTED / "model.onnx").read_bytes()
    committed = json.loads((COMMITTED / "export.json").read_text())
    assert {**committed, "files": None} == {**json.loads((folder / "export.json").read_text()), "files": None}
    references = json.loads(COMMITTED.with_name("onnx-policy.json").read_text())["cases"]
    for made, reference in zip(cases(model), references, strict=True):
        assert made["prompt"] == reference["prompt"]
        for turn in ("first", "second"):
            ours, theirs = made[turn], reference[turn]
            assert isinstance(ours, dict)
            assert ours["ids"] == theirs["ids"]
            assert ours["logprobs"] == pytest.approx(theirs["logprobs"], abs=TOLERANCE)
    assert manifest.context == SHAPE.context


def test_what_is_no_such_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config\.json is missing"):
        export_for_decoding(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    with pytest.raises(InputError, match="model_type llama; only qwen2"):
        export_for_decoding(tmp_path)


def test_weights_of_another_kind_are_refused(tmp_path: Path) -> None:
    model = small_model()
    assert isinstance(model, Qwen2ForCausalLM)
    model.to(torch.float16).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="is F16; only fp32"):
        export_for_decoding(tmp_path)
