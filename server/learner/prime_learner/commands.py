"""What each command does, from a checked request to the fields of its `done` event."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import torch
from pydantic import JsonValue, TypeAdapter, ValidationError
from tokenizers import Tokenizer
from transformers import Qwen2ForCausalLM

from .calibrate import calibrate, scale_logits
from .checkpoint import check_replaceable, write_folder
from .contract import (
    CalibrateRequest,
    CheckpointToModelRequest,
    ConversationsData,
    EncodeRequest,
    EvaluateLossRequest,
    ExportRequest,
    FinishLine,
    GrpoRequest,
    NewStart,
    RowsData,
    TrainTokenizerRequest,
    WarmStartRequest,
)
from .conversation import AssistantMessage, Conversation, EncodedConversation, Message, encode
from .evaluate import evaluate_loss
from .export import export_onnx
from .grpo_run import GrpoRun, StepLine, open_run
from .json_line import json_line
from .model import load_model, new_model
from .model_source import ModelFolder, load_source
from .one_process import sole_user
from .rows import TrainingRow, read_rows
from .strict import InputError, parse_json, read_json_lines
from .supervised import SupervisedResult, train_supervised
from .tokenizer import as_fast_tokenizer, load_tokenizer, texts_of, train_tokenizer

Send = Callable[[str, Mapping[str, object]], None]


@dataclass(frozen=True)
class Outcome:
    event: Literal["done", "interrupted", "halted"]
    fields: Mapping[str, object]


def run_train_tokenizer(request: TrainTokenizerRequest) -> Outcome:
    conversations = read_conversations(request.conversations)
    tokenizer = train_tokenizer(texts_of(conversations), request.entries)
    fast = as_fast_tokenizer(tokenizer, request.context)
    write_folder(request.out, lambda folder: fast.save_pretrained(folder))
    return Outcome("done", {"entries": tokenizer.get_vocab_size(), "out": str(request.out)})


def run_encode(request: EncodeRequest) -> Outcome:
    tokenizer = load_tokenizer(request.tokenizer)
    rows = rows_of_conversations(read_conversations(request.conversations), tokenizer)
    partial = request.out.with_name(request.out.name + ".partial")
    with partial.open("w", encoding="utf-8") as file:
        for row in rows:
            left_out = {"reinforcement"} if row.choices is not None else {"reinforcement", "choices"}
            file.write(json_line(row.model_dump(mode="json", exclude=left_out)))
    partial.replace(request.out)
    tokens = sum(len(row.ids) for row in rows)
    return Outcome("done", {"rows": len(rows), "tokens": tokens, "out": str(request.out)})


def run_warm_start(request: WarmStartRequest, send: Send, stop: Callable[[], bool]) -> Outcome:
    check_replaceable(request.out)  # Now, and not after hours.
    if request.threads is not None:
        torch.set_num_threads(request.threads)
    tokenizer = load_tokenizer(request.tokenizer)
    rows = read_data(request.data, tokenizer)
    vocabulary = tokenizer.get_vocab_size()
    start = request.start
    if isinstance(start, NewStart):
        model = new_model(start.shape, vocabulary, start.seed)
    else:
        model = load_model(start.folder)
        if model.config.vocab_size != vocabulary:
            raise InputError(
                f"the model in {start.folder} has {model.config.vocab_size} entries, the tokenizer in "
                f"{request.tokenizer} {vocabulary}"
            )
    send("data", {"rows": len(rows), "tokens": sum(len(row.ids) for row in rows)})
    with sole_user(request.run):
        result = train_supervised(
            model,
            rows,
            request.training,
            request.run,
            _data_hash(request),
            on_step=lambda metrics: send("step", asdict(metrics)),
            on_note=lambda text: send("note", {"text": text}),
            should_stop=stop,
            processes=request.processes,
        )
    if not result.finished:
        return Outcome("interrupted", _summary(result))
    _write_model(model, tokenizer, request.out)
    return Outcome("done", {**_summary(result), "out": str(request.out)})


def run_grpo(
    request: GrpoRequest, send: Send, next_line: Callable[[], str | None]
) -> Outcome:
    """next_line: the next line of the input, '' at its end, None when the process was asked to end."""
    if request.threads is not None:
        torch.set_num_threads(request.threads)
    model, tokenizer = load_source(ModelFolder(kind="model", folder=request.model))
    with sole_user(request.run):
        run = open_run(
            model,
            request.training,
            request.run,
            request.publish,
            _hash_of(sorted(request.model.glob("*.safetensors"))),
            on_note=lambda text: send("note", {"text": text}),
            processes=request.processes,
        )
        try:
            return _steps(run, tokenizer, send, next_line)
        finally:
            run.close()


def _steps(
    run: GrpoRun, tokenizer: Tokenizer, send: Send, next_line: Callable[[], str | None]
) -> Outcome:
    send("ready", {"step": run.progress.step, "resumed": run.resumed_from > 0})
    send("published", _published(run))
    while True:
        line = next_line()
        if line is None or line == "":
            if line == "":
                send("note", {"text": "the input ended without a finish line"})
            return Outcome("interrupted", _progress(run))
        command = _step_or_finish(line)
        if isinstance(command, FinishLine):
            out = command.finish.out
            if out is not None:
                _write_model(run.model, tokenizer, out)
            return Outcome(
                "done", {**_progress(run), "out": None if out is None else str(out)}
            )
        answer = run.step(command)
        if answer.event == "halted":
            return Outcome("halted", {**_progress(run), **answer.fields})
        send("step", answer.fields)
        send("published", _published(run))


def _step_or_finish(line: str) -> StepLine | FinishLine:
    where = "line"
    try:
        keys = TypeAdapter(dict[str, JsonValue]).validate_json(line)
    except ValidationError:
        keys = {}
    if "finish" in keys:
        return parse_json(FinishLine, line, where)
    return parse_json(StepLine, line, where)


def _published(run: GrpoRun) -> dict[str, object]:
    return {
        "policy_version": run.progress.policy_version,
        "folder": str(run.published.folder),
        "weights_sha256": run.published.weights_sha256,
        "probe": asdict(run.published.probe),
    }


def _progress(run: GrpoRun) -> dict[str, object]:
    return {
        "steps": run.progress.step,
        "resumed_from": run.resumed_from,
        "policy_version": run.progress.policy_version,
        "skipped_steps": run.progress.skipped_steps,
    }


def run_evaluate_loss(request: EvaluateLossRequest) -> Outcome:
    if request.threads is not None:
        torch.set_num_threads(request.threads)
    model, tokenizer = load_source(request.model)
    rows = read_data(request.data, tokenizer)
    for row in rows:
        if len(row.ids) > model.config.max_position_embeddings:
            raise InputError(f"row {row.id} has {len(row.ids)} tokens, more than the model takes")
    return Outcome("done", evaluate_loss(model, tokenizer, rows, request.tokens_per_pack))


def run_calibrate(request: CalibrateRequest) -> Outcome:
    check_replaceable(request.out)
    if request.threads is not None:
        torch.set_num_threads(request.threads)
    model, tokenizer = load_source(ModelFolder(kind="model", folder=request.model))
    rows = read_data(request.data, tokenizer)
    calibration = calibrate(model, rows, request.tokens_per_pack)
    scale_logits(model, calibration.factor)
    _write_model(model, tokenizer, request.out)
    return Outcome("done", {**asdict(calibration), "out": str(request.out)})


def run_checkpoint_to_model(request: CheckpointToModelRequest) -> Outcome:
    check_replaceable(request.out)
    model, tokenizer = load_source(request.checkpoint)
    _write_model(model, tokenizer, request.out)
    return Outcome("done", {"out": str(request.out)})


def _write_model(model: Qwen2ForCausalLM, tokenizer: Tokenizer, out: Path) -> None:
    fast = as_fast_tokenizer(tokenizer, model.config.max_position_embeddings)

    def write(folder: Path) -> None:
        model.save_pretrained(folder)
        fast.save_pretrained(folder)

    write_folder(out, write)


def run_export(request: ExportRequest) -> Outcome:
    model = load_model(request.model)
    fields: dict[str, object] = {}

    def write(folder: Path) -> None:
        fields.update(asdict(export_onnx(model, folder)))

    write_folder(request.out, write)
    return Outcome("done", {**fields, "out": str(request.out)})


def read_conversations(paths: Sequence[Path]) -> tuple[Conversation, ...]:
    """Raises InputError: unreadable, malformed, an id twice, or none at all."""
    seen: set[str] = set()
    conversations: list[Conversation] = []
    for path in paths:
        for number, conversation in read_json_lines(Conversation, path):
            if conversation.id in seen:
                raise InputError(
                    f"{path}, line {number}: conversation {conversation.id} was there before"
                )
            seen.add(conversation.id)
            conversations.append(conversation)
    if not conversations:
        raise InputError(f"{', '.join(map(str, paths))}: no conversations")
    return tuple(conversations)


def rows_of_conversations(
    conversations: Sequence[Conversation], tokenizer: Tokenizer, learn_everything: bool = False
) -> tuple[TrainingRow, ...]:
    """Choices become those of the rows, except with `learn_everything`, which learns every next token.

    Raises:
        InputError: a conversation has nothing to learn, or choices that do not fit its replies.
    """
    rows: list[TrainingRow] = []
    for conversation in conversations:
        if learn_everything:
            encoded = _everything(conversation, tokenizer)
        else:
            try:
                encoded = encode(tokenizer, conversation.messages)
            except InputError as error:
                raise InputError(f"conversation {conversation.id}: {error}") from None
        if not any(encoded.loss_mask):
            raise InputError(
                f"conversation {conversation.id} has no assistant message to train on"
                + ("" if encoded.choices is None else " in which its choices leave anything to decide")
            )
        rows.append(
            TrainingRow(
                id=conversation.id,
                ids=encoded.ids,
                loss_mask=encoded.loss_mask,
                choices=encoded.choices,
            )
        )
    return tuple(rows)


def _everything(conversation: Conversation, tokenizer: Tokenizer) -> EncodedConversation:
    """Everything is learnt except the first token and what `train: false` keeps out. Without choices."""
    messages = [_changed(message, choices=None) for message in conversation.messages]
    encoded = encode(tokenizer, messages)
    written = encode(tokenizer, [_changed(message, train=True) for message in messages]).loss_mask
    mask = [int(learnt or not own) for learnt, own in zip(encoded.loss_mask, written, strict=True)]
    return EncodedConversation(encoded.ids, (0, *mask[1:]))


def _changed(message: Message, **update: object) -> Message:
    return message.model_copy(update=update) if isinstance(message, AssistantMessage) else message


def read_data(data: RowsData | ConversationsData, tokenizer: Tokenizer) -> tuple[TrainingRow, ...]:
    if isinstance(data, ConversationsData):
        everything = data.learn == "everything"
        return rows_of_conversations(read_conversations(data.paths), tokenizer, everything)
    vocabulary = tokenizer.get_vocab_size()
    rows = tuple(row for path in data.paths for row in read_rows(path, vocabulary))
    for row in rows:
        if row.learnt_tokens == 0:
            raise InputError(f"row {row.id}: loss_mask is 0 everywhere; leave the row out")
    if len({row.id for row in rows}) < len(rows):
        raise InputError(f"{', '.join(map(str, data.paths))}: a row id comes in two files")
    return rows


def _data_hash(request: WarmStartRequest) -> str:
    """Of everything besides the options that decides the weights."""
    whole = hashlib.sha256()
    files = [*request.data.paths, request.tokenizer / "tokenizer.json"]
    if isinstance(request.data, ConversationsData) and request.data.learn == "everything":
        whole.update(b"everything")
    if isinstance(request.start, NewStart):
        whole.update(request.start.model_dump_json().encode())
    else:
        files += sorted(request.start.folder.glob("*.safetensors"))
    return _hash_of(files, whole)


def _hash_of(files: Sequence[Path], whole: hashlib._Hash | None = None) -> str:
    whole = hashlib.sha256() if whole is None else whole
    for path in files:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def _summary(result: SupervisedResult) -> dict[str, object]:
    return {
        "steps": result.steps,
        "resumed_from": result.resumed_from,
        "skipped_steps": result.skipped_steps,
        "loss": None if result.last is None else result.last.loss,
        "tokens_per_second": result.tokens_per_second,
    }
