"""A policy version for the sampler: weights as transformers reads them, and the graph over them.

The graph (decode_graph.py) refers into the weights' file, so nothing is traced and nothing converted:
a version is written in the time that its weights take to reach the disk.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import Qwen2ForCausalLM

from .attention import learnt_logprobs
from .checkpoint import problem_of, write_folder
from .decode_graph import WEIGHTS_FILE, export_for_decoding
from .packing import pack
from .rows import TrainingRow


@dataclass(frozen=True)
class Probe:
    """What the trainer says about fixed ids: who loads a version can see that its weights arrived."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Of each id but the first given those before it, natural logarithms, fp32."""


@dataclass(frozen=True)
class Published:
    folder: Path
    weights_sha256: str
    """Of model.safetensors."""
    probe: Probe


def version_folder(publish: Path, version: int) -> Path:
    return publish / f"policy-v{version:06d}"


def publish_version(model: Qwen2ForCausalLM, publish: Path, version: int, keep: int) -> Published:
    """Writes the version unless it is there, and removes all but the newest `keep`.

    model: takes packs (`use_packed_attention`).
    """
    target = version_folder(publish, version)
    if problem_of(target) is not None:
        # The caller may have put files of its own into a version (tokenizer, manifest).
        shutil.rmtree(target, ignore_errors=True)
        write_folder(target, lambda new: _write(model, new))
    for old in sorted(publish.glob("policy-v*"))[:-keep]:
        if old != target:
            shutil.rmtree(old, ignore_errors=True)
    manifest = json.loads((target / "export.json").read_text("utf-8"))
    return Published(target, manifest["files"][WEIGHTS_FILE], _probe(model))


def remove_younger(publish: Path, version: int) -> None:
    """Versions whose checkpoint was lost: their steps will be done again."""
    for path in publish.glob("policy-v*"):
        number = path.name.removeprefix("policy-v")
        if number.isdigit() and int(number) > version:
            shutil.rmtree(path, ignore_errors=True)


def _write(model: Qwen2ForCausalLM, folder: Path) -> None:
    # By parameter: a tied matrix comes once, under the name of the embedding.
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    save_file(weights, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    model.config.save_pretrained(folder)
    export_for_decoding(folder)


def _probe(model: Qwen2ForCausalLM) -> Probe:
    vocabulary: int = model.config.vocab_size
    ids = tuple((7 + 131 * place) % vocabulary for place in range(24))
    row = TrainingRow(id="probe", ids=ids, loss_mask=(0, *(1 for _ in ids[1:])))
    with torch.no_grad():
        logprobs: list[float] = learnt_logprobs(model, pack([row])).tolist()
    return Probe(ids, tuple(round(value, 6) for value in logprobs))
