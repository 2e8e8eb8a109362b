from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from prime_learner import contract
from prime_learner.__main__ import run
from prime_learner.attention import packed_logits, use_packed_attention
from prime_learner.checkpoint import problem_of
from prime_learner.commands import rows_of_conversations
from prime_learner.conversation import (
    ARGUMENT_ID,
    END_CALL_ID,
    VALUE_ID,
    AssistantMessage,
    Call,
    Conversation,
    encode_text,
)
from prime_learner.evaluate import LABELS, evaluate_loss, label_parts
from prime_learner.model import ModelShape, load_model, new_model
from prime_learner.packing import pack
from prime_learner.rows import TrainingRow
from prime_learner.schedule import Schedule
from prime_learner.stop import Stop
from prime_learner.supervised import SupervisedOptions, train_supervised
from prime_learner.tokenizer import load_tokenizer
from tests.conftest import TINY, write_lines
from tests.demonstrations import demonstration, demonstrations
from tests.make_fixtures import TOKENIZER
from tests.reply_sets import drawn_from
from tokenizers import Tokenizer
from transformers import Qwen2ForCausalLM

VOCABULARY = 400


def _text(tokenizer: Tokenizer, row: TrainingRow, labels: Sequence[str], label: str) -> str:
    chosen = [token for token, of in zip(row.ids, labels, strict=True) if of == label]
    return str(tokenizer.decode(chosen, skip_special_tokens=False))


def test_each_token_is_labelled_by_what_it_is_part_of(
    tokenizer: Tokenizer, rows: Sequence[TrainingRow]
) -> None:
    row = rows[1]  # Without a recovery.
    labelled = label_parts(tokenizer, row.ids)
    assert set(labelled.labels) == set(LABELS)
    edit = demonstration(1).messages[4]
    assert edit.role == "assistant"
    (call,) = edit.calls
    arguments = call.arguments
    names = "str_replace_editor" * 2 + "run_tests" + "submit"
    assert _text(tokenizer, row, labelled.labels, "call_name") == names
    assert _text(tokenizer, row, labelled.labels, "path") == f"{arguments['path']}" * 2
    assert _text(tokenizer, row, labelled.labels, "old_str") == arguments["old_str"]
    assert _text(tokenizer, row, labelled.labels, "new_str") == arguments["new_str"]
    spans = {span.label: row.ids[span.start : span.end] for span in labelled.values}
    # With the tag that ends the value.
    assert spans["old_str"] == (*encode_text(tokenizer, str(arguments["old_str"])), ARGUMENT_ID)
    assert spans["new_str"] == (*encode_text(tokenizer, str(arguments["new_str"])), END_CALL_ID)


def test_an_empty_value_is_a_value(tokenizer: Tokenizer) -> None:
    ids = [ARGUMENT_ID, *encode_text(tokenizer, "new_str"), VALUE_ID, END_CALL_ID]
    (span,) = label_parts(tokenizer, ids).values
    assert (span.label, ids[span.start : span.end]) == ("new_str", [END_CALL_ID])


def _overall(fields: dict[str, object]) -> dict[str, float]:
    overall = fields["overall"]
    assert isinstance(overall, dict)
    return overall


def test_loss_and_accuracy_are_those_of_the_learnt_tokens(
    tokenizer: Tokenizer, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    model = new_model(tiny_shape, VOCABULARY, seed=1)
    fields = evaluate_loss(model, tokenizer, rows[:5], tokens_per_pack=700)
    reference = new_model(tiny_shape, VOCABULARY, seed=1).eval()
    use_packed_attention(reference)
    packed = pack(rows[:5])
    with torch.no_grad():
        logits = packed_logits(reference, packed)[:-1][packed.loss_mask[1:]]
    wanted = packed.ids[packed.loss_mask]
    expected = torch.nn.functional.cross_entropy(logits, wanted).item()
    overall = _overall(fields)
    assert overall["loss"] == pytest.approx(expected, abs=1e-5)
    assert overall["accuracy"] == pytest.approx((logits.argmax(-1) == wanted).float().mean().item())
    assert overall["tokens"] == int(packed.loss_mask.sum())
    parts = fields["parts"]
    assert isinstance(parts, dict)
    assert sum(part["tokens"] for part in parts.values()) == overall["tokens"]
    # Independent of how rows are packed.
    assert _overall(evaluate_loss(model, tokenizer, rows[:5], 5000))["loss"] == pytest.approx(expected)


def test_wrong_calls_of_a_demonstration_are_not_counted(
    tokenizer: Tokenizer, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    model = new_model(tiny_shape, VOCABULARY, seed=1)
    # Row 0 has a wrong edit, which is context only, and the right one.
    fields = evaluate_loss(model, tokenizer, rows[:1], 700)
    assert fields["exact"] == {
        "old_str": {"values": 1, "exact": 0, "rate": 0.0},
        "new_str": {"values": 1, "exact": 0, "rate": 0.0},
    }


def test_a_value_from_a_set_counts_when_something_of_it_was_drawn(
    tokenizer: Tokenizer, tiny_shape: ModelShape
) -> None:
    def edit(old: str, new: str) -> AssistantMessage:
        call = Call(name="edit", arguments={"old_str": old, "new_str": new})
        return AssistantMessage(role="assistant", content="", calls=(call,))

    # All have the same old_str, so the set forces it; the prior decides nearly alone about new_str.
    replies = [edit("a + b", "a - b"), edit("a + b", "a * b"), edit("a + b", "a - c")]
    model = new_model(tiny_shape, VOCABULARY, seed=1)
    for drawn, exact in ((0, 0), (1, 0), (2, 1)):
        message = drawn_from(tokenizer, replies, [1e-20, 1e-10, 1.0], drawn)
        (row,) = rows_of_conversations([Conversation(id="a", messages=(message,))], tokenizer)
        assert evaluate_loss(model, tokenizer, [row], 700)["exact"] == {
            "old_str": {"values": 0, "exact": 0, "rate": None},
            "new_str": {"values": 1, "exact": exact, "rate": float(exact)},
        }


def _told(model: Qwen2ForCausalLM, row: TrainingRow, folder: Path) -> None:
    options = SupervisedOptions(
        steps=150, rows_per_step=1, schedule=Schedule(peak=1e-2, warmup_steps=5), checkpoint_every=1000
    )
    train_supervised(model, [row], options, folder, "d")


def test_values_that_were_learnt_by_heart_match_exactly(
    tmp_path: Path, tokenizer: Tokenizer, rows: Sequence[TrainingRow], tiny_shape: ModelShape
) -> None:
    model = new_model(tiny_shape, VOCABULARY, seed=1)
    _told(model, rows[1], tmp_path)
    fields = evaluate_loss(model, tokenizer, [rows[1]], 700)
    assert _overall(fields)["accuracy"] == 1
    assert fields["exact"] == {
        "old_str": {"values": 1, "exact": 1, "rate": 1.0},
        "new_str": {"values": 1, "exact": 1, "rate": 1.0},
    }


def _run_here(command: str, request: object) -> tuple[int, dict[str, object]]:
    stream = io.StringIO()
    code = run(command, io.StringIO(json.dumps(request) + "\n"), stream, Stop())
    last: dict[str, object] = json.loads(stream.getvalue().splitlines()[-1])
    return code, last


def test_a_checkpoint_of_a_run_is_measured_and_becomes_a_model(tmp_path: Path) -> None:
    conversations = write_lines(
        tmp_path / "c.jsonl", *(item.model_dump_json() for item in demonstrations(6))
    )
    data = {"kind": "conversations", "paths": [str(conversations)]}
    code, done = _run_here(
        "warm-start",
        {
            "contract": 1,
            "data": data,
            "tokenizer": str(TOKENIZER),
            "start": {"kind": "new", "shape": TINY.model_dump(), "seed": 1},
            "training": {"steps": 2, "rows_per_step": 2, "checkpoint_every": 2},
            "run": str(tmp_path / "run"),
            "out": str(tmp_path / "model"),
        },
    )
    assert code == 0
    checkpoint = {
        "kind": "checkpoint",
        "folder": str(tmp_path / "run/checkpoints/step-00000002"),
        "tokenizer": str(TOKENIZER),
        "shape": TINY.model_dump(),
    }
    common = {"contract": 1, "data": data}
    _, of_model = _run_here(
        "evaluate-loss", {**common, "model": {"kind": "model", "folder": str(tmp_path / "model")}}
    )
    code, of_checkpoint = _run_here("evaluate-loss", {**common, "model": checkpoint})
    assert (code, of_checkpoint["rows"]) == (0, 6)
    assert of_checkpoint == of_model

    code, _ = _run_here(
        "checkpoint-to-model",
        {"contract": 1, "checkpoint": checkpoint, "out": str(tmp_path / "made")},
    )
    assert code == 0
    assert problem_of(tmp_path / "made") is None
    ids = torch.tensor([[1, 2, 3]])
    left, right = (load_model(tmp_path / name).eval()(input_ids=ids).logits for name in ("made", "model"))
    assert torch.equal(left, right)
    assert load_tokenizer(tmp_path / "made").get_vocab_size() == VOCABULARY

    wide = {**checkpoint, "shape": {**TINY.model_dump(), "hidden": 64}}
    code, failed = _run_here("evaluate-loss", {**common, "model": wide})
    assert code == contract.EXIT_INPUT
    assert "do not fit shape and tokenizer of the request" in str(failed["message"])
    gone = {**checkpoint, "folder": str(tmp_path / "run/checkpoints/step-00000001")}
    _, failed = _run_here("evaluate-loss", {**common, "model": gone})
    assert "it was not written to the end (a run that goes on removes old ones)" in str(failed["message"])
