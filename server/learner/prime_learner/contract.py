"""The contract with the TypeScript side: one request in, events out, all JSON Lines.

`python -m prime_learner COMMAND` reads one line from standard input, the request, and writes one event
a line to standard output. docs/learner.md describes both; tests/fixtures/golden/contract pins them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TextIO

from pydantic import Field

from .grpo_run import GrpoTraining
from .json_line import json_line
from .model import ModelShape
from .model_source import CheckpointFolder, ModelSource
from .strict import Strict
from .supervised import SupervisedOptions

VERSION = 1

EXIT_DONE, EXIT_FAILED, EXIT_INPUT, EXIT_INTERRUPTED, EXIT_HALTED = 0, 1, 2, 3, 4

EXITS = {"done": EXIT_DONE, "interrupted": EXIT_INTERRUPTED, "halted": EXIT_HALTED}
"""By the last event."""


class Request(Strict):
    contract: Literal[1]


class TrainTokenizerRequest(Request):
    conversations: tuple[Path, ...] = Field(min_length=1)
    entries: int = Field(default=768, gt=0)
    context: int = Field(default=4096, gt=0)
    out: Path


class RowsData(Strict):
    kind: Literal["rows"]
    paths: tuple[Path, ...] = Field(min_length=1)


class ConversationsData(Strict):
    kind: Literal["conversations"]
    paths: tuple[Path, ...] = Field(min_length=1)
    learn: Literal["assistant", "everything"] = "assistant"
    """everything: what others wrote as well, a first phase that teaches the language of the files and to copy."""


class NewStart(Strict):
    kind: Literal["new"]
    shape: ModelShape = ModelShape()
    seed: int = Field(default=0, ge=0)


class ModelStart(Strict):
    kind: Literal["model"]
    folder: Path


class WarmStartRequest(Request):
    data: Annotated[RowsData | ConversationsData, Field(discriminator="kind")]
    tokenizer: Path
    """Folder with tokenizer.json; its files are copied into `out`."""
    start: Annotated[NewStart | ModelStart, Field(discriminator="kind")]
    training: SupervisedOptions
    threads: int | None = Field(default=None, gt=0)
    """CPU threads of each process; another number gives other roundings, so a resumed run wants the same."""
    processes: int = Field(default=1, gt=0)
    """That share each step; the same holds."""
    run: Path
    """Folder of checkpoints and metrics.jsonl; a run that is found there goes on."""
    out: Path
    """Folder of the finished model; written whole or not at all."""


class EncodeRequest(Request):
    """Conversations become rows, for supervised steps of `grpo`."""

    conversations: tuple[Path, ...] = Field(min_length=1)
    tokenizer: Path
    out: Path
    """A file, JSON Lines."""


class ExportRequest(Request):
    model: Path
    out: Path


class GrpoRequest(Request):
    """The first line; behind it one StepLine or FinishLine a line."""

    model: Path
    """Folder of the first weights with their tokenizer."""
    training: GrpoTraining = GrpoTraining()
    threads: int | None = Field(default=None, gt=0)
    processes: int = Field(default=1, gt=0)
    """That share each step, with so many threads each; another number gives other roundings."""
    run: Path
    """Folder of checkpoints and metrics.jsonl; a run that is found there goes on."""
    publish: Path
    """Folder for the sampler's weights: `policy-v000000`, `policy-v000001` …"""


class Finish(Strict):
    out: Path | None = None
    """Folder of the finished model; null: none is written."""


class FinishLine(Strict):
    finish: Finish


class EvaluateLossRequest(Request):
    model: ModelSource
    data: Annotated[RowsData | ConversationsData, Field(discriminator="kind")]
    tokens_per_pack: int = Field(default=4096, gt=0)
    threads: int | None = Field(default=None, gt=0)


class CalibrateRequest(Request):
    """The model of a folder with its logits weighed anew against the sets that rows were chosen from."""

    model: Path
    data: Annotated[RowsData | ConversationsData, Field(discriminator="kind")]
    """Not learnt from. Every row has choices."""
    tokens_per_pack: int = Field(default=4096, gt=0)
    threads: int | None = Field(default=None, gt=0)
    out: Path


class CheckpointToModelRequest(Request):
    checkpoint: CheckpointFolder
    out: Path


class Events:
    """Writes events; the only thing that writes to standard output."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def send(self, event: str, fields: Mapping[str, object]) -> None:
        self._stream.write(json_line({"contract": VERSION, "event": event, **fields}))
        self._stream.flush()
