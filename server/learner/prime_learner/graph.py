"""The ONNX graph of a training run: made once, with its weights in a file of their own.

The exporter takes tens of seconds. What it makes depends on the model's shape alone, so a new version
of the weights only needs a new data file: `model.onnx.data`, next to `model.onnx`, which never changes.
"""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from onnx.external_data_helper import set_external_data
from pydantic import Field
from torch import Tensor
from transformers import Qwen2ForCausalLM

from .checkpoint import problem_of, write_folder
from .export import DATA_FILE, CachedDecoder, ExternalData, Probe, export_onnx
from .strict import Strict, parse_json

_ALIGNMENT = 64
_LAYOUT = "layout.json"


class _Place(Strict):
    weight: str
    """Name among the model's parameters."""
    transposed: bool
    offset: int = Field(ge=0)


class _Layout(Strict):
    places: tuple[_Place, ...]
    size: int
    """Of the data file, bytes."""
    shape: dict[str, object]
    """What of the model's configuration decides the graph."""
    manifest: dict[str, object]


class Graph:
    """Writes the weights of models of one shape. `folder` holds the graph without them."""

    def __init__(self, folder: Path, layout: _Layout) -> None:
        self._layout = layout
        self._graph = (folder / "model.onnx").read_bytes()

    def write(self, model: Qwen2ForCausalLM, folder: Path) -> ExternalData:
        """Puts model.onnx, model.onnx.data and export.json into `folder`, which exists."""
        weights = dict(model.named_parameters())
        data = bytearray(self._layout.size)
        for place in self._layout.places:
            weight = weights[place.weight].detach()
            raw = (weight.t() if place.transposed else weight).contiguous().numpy().tobytes()
            data[place.offset : place.offset + len(raw)] = raw
        external = ExternalData(
            file=DATA_FILE, bytes=len(data), sha256=hashlib.sha256(data).hexdigest()
        )
        (folder / "model.onnx").write_bytes(self._graph)
        (folder / DATA_FILE).write_bytes(data)
        manifest = {
            **self._layout.manifest,
            "data": asdict(external),
            "probe": asdict(_probe(model)),
        }
        (folder / "export.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
        return external


def prepare_graph(model: Qwen2ForCausalLM, folder: Path) -> Graph:
    """Reads the graph from `folder`, or makes it there (tens of seconds) for models of this shape."""
    shape = _shape(model)
    if problem_of(folder) is None:
        layout = parse_json(_Layout, (folder / _LAYOUT).read_bytes(), str(folder / _LAYOUT))
        if layout.shape == shape:
            return Graph(folder, layout)
    write_folder(folder, lambda new: _make(model, shape, new))
    return prepare_graph(model, folder)


def _make(model: Qwen2ForCausalLM, shape: dict[str, object], folder: Path) -> None:
    # With weights that differ everywhere: the exporter joins those that are equal (all norms of a new
    # model), and below they are recognised by their values.
    stand_in = copy.deepcopy(model).eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in stand_in.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator))
    manifest = export_onnx(stand_in, folder)
    path = folder / "model.onnx"
    graph = onnx.load(str(path))
    places, size = _move_weights_out(graph, dict(stand_in.named_parameters()))
    onnx.save(graph, str(path))
    about = {**asdict(manifest), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    layout = _Layout(places=tuple(places), size=size, shape=shape, manifest=about)
    (folder / _LAYOUT).write_text(layout.model_dump_json(indent=1) + "\n", "utf-8")
    (folder / "export.json").unlink()


def _move_weights_out(
    graph: onnx.ModelProto, weights: dict[str, Tensor]
) -> tuple[list[_Place], int]:
    by_value = {
        _fingerprint(values.detach().numpy()): (name, transposed)
        for name, weight in weights.items()
        for transposed, values in ((True, weight.t()), (False, weight))
        if not transposed or weight.ndim == 2
    }
    places: list[_Place] = []
    size = 0
    for initializer in graph.graph.initializer:
        found = by_value.get(_fingerprint(numpy_helper.to_array(initializer)))
        if found is None:
            continue  # A constant.
        name, transposed = found
        size = -(-size // _ALIGNMENT) * _ALIGNMENT
        places.append(_Place(weight=name, transposed=transposed, offset=size))
        length = weights[name].numel() * 4
        initializer.raw_data = bytes(length)  # `set_external_data` wants some; not kept.
        set_external_data(initializer, DATA_FILE, offset=size, length=length)
        initializer.ClearField("raw_data")
        size += length
    missing = set(weights) - {place.weight for place in places}
    if missing:
        raise RuntimeError(
            f"the exporter changed {sorted(missing)} beyond recognition; give the weights inside instead"
        )
    return places, size


def _fingerprint(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> tuple[object, ...]:
    return (values.shape, str(values.dtype), hashlib.sha256(values.tobytes()).hexdigest())


def _shape(model: Qwen2ForCausalLM) -> dict[str, object]:
    whole = model.config.to_dict()
    free = ("_name_or_path", "transformers_version", "dtype", "use_cache")
    kept = {name: value for name, value in whole.items() if name not in free}
    shape: dict[str, object] = json.loads(json.dumps(kept, sort_keys=True, default=str))
    return shape


@torch.no_grad()
def _probe(model: Qwen2ForCausalLM) -> Probe:
    """What these weights say about fixed ids: who loads them can see that they have arrived."""
    vocabulary: int = model.config.vocab_size
    ids = [(7 + 131 * place) % vocabulary for place in range(24)]
    decoder = CachedDecoder(model)
    size = (1, decoder.kv_heads, 0, decoder.head_size)
    cache = [torch.zeros(size) for _ in range(2 * len(model.model.layers))]
    count = len(ids)
    logits, *_ = decoder(
        torch.tensor([ids]), torch.ones(1, count, dtype=torch.int64), torch.arange(count)[None], *cache
    )
    chosen = logits[0, :-1].log_softmax(-1).gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
    return Probe(ids=tuple(ids), logprobs=tuple(round(float(value), 6) for value in chosen))
