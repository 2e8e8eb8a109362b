"""The whole program as the other side sees it: a process, one request line, event lines."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from prime_learner import contract
from prime_learner.__main__ import run
from prime_learner.checkpoint import problem_of
from prime_learner.commands import (
    read_conversations,
    rows_of_conversations,
    run_train_tokenizer,
    run_warm_start,
)
from prime_learner.conversation import (
    AssistantMessage,
    Call,
    Conversation,
    Message,
    encode,
    encode_text,
)
from prime_learner.grpo_run import StepLine
from prime_learner.one_process import sole_user
from prime_learner.packing import rows_of_step
from prime_learner.rows import Choice, TrainingRow, read_rows
from prime_learner.stop import Stop
from prime_learner.strict import InputError, Strict, parse_json
from prime_learner.tokenizer import load_tokenizer
from tests.conftest import TINY, write_lines
from tests.demonstrations import demonstrations
from tests.make_fixtures import FOLDER, TOKENIZER
from tests.reply_sets import drawn_from
from transformers import AutoModelForCausalLM, AutoTokenizer

LEARNER = Path(__file__).parent.parent
Event = dict[str, object]


def _run(command: str, request: object) -> tuple[int, list[Event], str]:
    done = subprocess.run(
        [sys.executable, "-m", "prime_learner", command],
        cwd=LEARNER,
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def _run_here(command: str, request: object) -> tuple[int, list[Event]]:
    """Without a process of its own, whose start takes seconds."""
    stream = io.StringIO()
    code = run(command, io.StringIO(json.dumps(request) + "\n"), stream, Stop())
    return code, [json.loads(line) for line in stream.getvalue().splitlines()]


def _conversations(folder: Path) -> Path:
    lines = (conversation.model_dump_json() for conversation in demonstrations(30))
    return write_lines(folder / "conversations.jsonl", *lines)


def _warm_start(folder: Path, **changes: object) -> dict[str, object]:
    return {
        "contract": 1,
        "data": {"kind": "conversations", "paths": [str(_conversations(folder))]},
        "tokenizer": str(TOKENIZER),
        "start": {"kind": "new", "shape": TINY.model_dump(), "seed": 1},
        "training": {"steps": 3, "rows_per_step": 4},
        "threads": 1,
        "run": str(folder / "run"),
        "out": str(folder / "model"),
        **changes,
    }


def test_tokenizer_warm_start_and_export_in_a_row(tmp_path: Path) -> None:
    code, events = _run_here(
        "train-tokenizer",
        {
            "contract": 1,
            "conversations": [str(_conversations(tmp_path))],
            "entries": 300,
            "out": str(tmp_path / "tokenizer"),
        },
    )
    assert (code, events[-1]["event"], events[-1]["entries"]) == (0, "done", 300)

    start = {"kind": "new", "shape": {**TINY.model_dump(), "context": 1024}}
    code, events = _run_here(
        "warm-start", _warm_start(tmp_path, tokenizer=str(tmp_path / "tokenizer"), start=start)
    )
    assert code == 0
    assert [event["event"] for event in events] == ["started", "data", "step", "step", "step", "done"]
    assert all(event["contract"] == 1 for event in events)
    assert events[1]["rows"] == 30
    assert problem_of(tmp_path / "model") is None
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    assert model.config.vocab_size == len(tokenizer) == 300
    assert model.config.eos_token_id == tokenizer.eos_token_id
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Go."}], add_generation_prompt=True, return_tensors="pt"
    )
    assert model.generate(**prompt, max_new_tokens=2).shape[1] > prompt["input_ids"].shape[1]

    code, events, _ = _run(
        "export",
        {"contract": 1, "model": str(tmp_path / "model"), "out": str(tmp_path / "onnx")},
    )
    # Libraries print while they export; none of it is among the events.
    assert [event["event"] for event in events] == ["started", "done"]
    assert (code, events[-1]["vocabulary"]) == (0, 300)
    assert problem_of(tmp_path / "onnx") is None


def test_stops_on_a_signal_with_a_checkpoint_and_goes_on_from_it(tmp_path: Path) -> None:
    request = _warm_start(tmp_path, training={"steps": 100_000, "rows_per_step": 2})
    process = subprocess.Popen(
        [sys.executable, "-m", "prime_learner", "warm-start"],
        cwd=LEARNER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.close()
    events: list[Event] = []
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1].get("step") == 2:
            process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == contract.EXIT_INTERRUPTED
    assert events[-1]["event"] == "interrupted"
    stopped_at = events[-1]["steps"]
    assert isinstance(stopped_at, int)
    assert not (tmp_path / "model").exists()
    seen: list[int] = []
    again = run_warm_start(
        parse_json(contract.WarmStartRequest, json.dumps(request), "request"),
        lambda _, fields: seen.append(1),
        lambda: True,
    )
    assert again.event == "interrupted"
    assert again.fields["resumed_from"] == stopped_at


@pytest.mark.parametrize(
    ("request_text", "message"),
    [
        ("", "request: Invalid JSON"),
        ('{"contract": 2, "model": "a", "out": "b"}', "request: contract: Input should be 1"),
        ('{"contract": 1, "model": "a", "out": "b", "opset": 9}', "request: opset: unknown option"),
        ('{"contract": 1, "model": "a"}', "request: out: is missing"),
    ],
)
def test_refuses_a_request_that_it_does_not_know(request_text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(contract.ExportRequest, request_text, "request")
    assert str(caught.value).startswith(message)


def test_an_unknown_option_deep_inside_is_named(tmp_path: Path) -> None:
    code, events = _run_here(
        "warm-start", _warm_start(tmp_path, training={"steps": 1, "schedule": {"peek": 1}})
    )
    assert (code, events[-1]["event"], events[-1]["kind"]) == (contract.EXIT_INPUT, "failed", "input")
    assert events[-1]["message"] == "request: training.schedule.peek: unknown option"


def test_a_command_that_does_not_exist_is_answered_at_once() -> None:
    code, events, errors = _run("fly", {})
    assert (code, events) == (2, [])
    names = (
        "train-tokenizer,encode,warm-start,export,grpo,evaluate-loss,calibrate,checkpoint-to-model"
    )
    assert errors == f"usage: python -m prime_learner {{{names}}} < request.json\n"


def test_encoded_conversations_are_the_rows_that_a_warm_start_trains_on(tmp_path: Path) -> None:
    conversations, out = _conversations(tmp_path), tmp_path / "rows.jsonl"
    code, events = _run_here(
        "encode",
        {
            "contract": 1,
            "conversations": [str(conversations)],
            "tokenizer": str(TOKENIZER),
            "out": str(out),
        },
    )
    assert (code, events[-1]["event"], events[-1]["rows"]) == (0, "done", 30)
    tokenizer = load_tokenizer(TOKENIZER)
    rows = read_rows(out, tokenizer.get_vocab_size())
    assert rows == rows_of_conversations(read_conversations([conversations]), tokenizer)
    assert events[-1]["tokens"] == sum(len(row.ids) for row in rows)


def _from_sets(count: int) -> list[Conversation]:
    """Demonstrations whose calls were drawn from sets of two: the call and another."""
    tokenizer = load_tokenizer(TOKENIZER)
    other = AssistantMessage(role="assistant", content="", calls=(Call(name="stop", arguments={}),))
    return [
        conversation.model_copy(
            update={
                "messages": tuple(
                    drawn_from(tokenizer, [message, other], [1, 3], 0)
                    if isinstance(message, AssistantMessage)
                    else message
                    for message in conversation.messages
                )
            }
        )
        for conversation in demonstrations(count)
    ]


def test_choices_of_conversations_become_those_of_rows(tmp_path: Path) -> None:
    from_sets = _from_sets(6)
    lines = [*from_sets, demonstrations(7)[6]]
    conversations = write_lines(tmp_path / "c.jsonl", *(one.model_dump_json() for one in lines))
    out = tmp_path / "rows.jsonl"
    request = {
        "contract": 1, "conversations": [str(conversations)], "tokenizer": str(TOKENIZER), "out": str(out),
    }
    code, events = _run_here("encode", request)
    assert (code, events[-1]["rows"]) == (0, 7)
    written = [json.loads(line) for line in out.read_text().splitlines()]
    # Rows without choices are written as they were before there were any.
    assert set(written[-1]) == {"id", "ids", "loss_mask"}
    assert set(written[0]) == {"id", "ids", "loss_mask", "choices"}
    rows = read_rows(out, 400)
    for row, conversation in zip(rows, from_sets, strict=False):
        trained = [m for m in conversation.messages if isinstance(m, AssistantMessage) and m.train]
        # Each reply of a set of two has one place where they part.
        assert row.learnt_tokens == len(row.choices or ()) == len(trained)

    evaluated = _warm_start(tmp_path, data={"kind": "conversations", "paths": [str(conversations)]})
    code, events = _run_here("warm-start", evaluated)
    assert (code, events[2]["learnt_tokens"]) == (
        0, sum(rows[at].learnt_tokens for at in rows_of_step(0, 4, 7, 0)),
    )
    measured = {
        "contract": 1,
        "model": {"kind": "model", "folder": str(tmp_path / "model")},
        "data": {"kind": "rows", "paths": [str(out)]},
    }
    code, events = _run_here("evaluate-loss", measured)
    assert code == 0
    overall = events[-1]["overall"]
    assert isinstance(overall, dict)
    assert overall["tokens"] == sum(row.learnt_tokens for row in rows)


def test_everything_is_learnt_without_regard_to_choices() -> None:
    tokenizer = load_tokenizer(TOKENIZER)
    rows = rows_of_conversations(_from_sets(6), tokenizer, learn_everything=True)
    assert rows == rows_of_conversations(demonstrations(6), tokenizer, learn_everything=True)


def test_says_which_conversation_leaves_nothing_to_learn_or_has_choices_that_do_not_fit() -> None:
    tokenizer = load_tokenizer(TOKENIZER)
    reply = AssistantMessage(role="assistant", content="So.", choices=())
    forced = Conversation(id="c", messages=(reply,))
    with pytest.raises(InputError, match="conversation c has no assistant message to train on in which its"):
        rows_of_conversations([forced], tokenizer)
    choice = Choice(at=0, ids=(1, 2), bias=(0.0, 0.0))
    wrong = Conversation(id="d", messages=(reply.model_copy(update={"choices": (choice,)}),))
    with pytest.raises(InputError, match=r"^conversation d: messages\[0\].choices\[0\].at is 0, where the reply"):
        rows_of_conversations([wrong], tokenizer)


def test_two_processes_cannot_train_in_one_folder(tmp_path: Path) -> None:
    request = _warm_start(tmp_path)
    with sole_user(tmp_path / "run"):
        code, events, _ = _run("warm-start", request)
    assert (code, events[-1]["event"]) == (contract.EXIT_INPUT, "failed")
    assert "another process trains in" in str(events[-1]["message"])
    assert _run("warm-start", request)[0] == 0


def test_refuses_a_model_with_another_vocabulary(tmp_path: Path) -> None:
    first = parse_json(contract.WarmStartRequest, json.dumps(_warm_start(tmp_path)), "request")
    run_warm_start(first, lambda *_: None, lambda: False)
    run_train_tokenizer(
        parse_json(
            contract.TrainTokenizerRequest,
            json.dumps(
                {
                    "contract": 1,
                    "conversations": [str(tmp_path / "conversations.jsonl")],
                    "entries": 280,
                    "out": str(tmp_path / "other"),
                }
            ),
            "request",
        )
    )
    changes = {
        "tokenizer": str(tmp_path / "other"),
        "start": {"kind": "model", "folder": str(tmp_path / "model")},
        "run": str(tmp_path / "run2"),
    }
    second = parse_json(
        contract.WarmStartRequest, json.dumps(_warm_start(tmp_path, **changes)), "request"
    )
    with pytest.raises(InputError, match="has 400 entries, the tokenizer in .* 280"):
        run_warm_start(second, lambda *_: None, lambda: False)


def test_goes_on_from_a_model(tmp_path: Path) -> None:
    first = parse_json(contract.WarmStartRequest, json.dumps(_warm_start(tmp_path)), "request")
    run_warm_start(first, lambda *_: None, lambda: False)
    changes = {
        "start": {"kind": "model", "folder": str(tmp_path / "model")},
        "run": str(tmp_path / "run2"),
        "out": str(tmp_path / "model2"),
        "training": {"steps": 1, "schedule": {"peak": 1e-9, "warmup_steps": 0}},
    }
    second = parse_json(
        contract.WarmStartRequest, json.dumps(_warm_start(tmp_path, **changes)), "request"
    )
    run_warm_start(second, lambda *_: None, lambda: False)
    before = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    after = AutoModelForCausalLM.from_pretrained(tmp_path / "model2")
    for old, new in zip(before.parameters(), after.parameters(), strict=True):
        torch.testing.assert_close(old, new, atol=1e-6, rtol=0)


KINDS: dict[str, type[Strict]] = {
    "train-tokenizer.request": contract.TrainTokenizerRequest,
    "encode.request": contract.EncodeRequest,
    "warm-start.request": contract.WarmStartRequest,
    "export.request": contract.ExportRequest,
    "grpo.request": contract.GrpoRequest,
    "grpo.step": StepLine,
    "grpo.finish": contract.FinishLine,
    "row": TrainingRow,
    "row.choices": TrainingRow,
    "conversation": Conversation,
    "evaluate-loss.request": contract.EvaluateLossRequest,
    "checkpoint-to-model.request": contract.CheckpointToModelRequest,
}


@pytest.mark.parametrize("name", KINDS)
def test_the_pinned_requests_are_read(name: str) -> None:
    path = FOLDER / "contract" / f"{name}.json"
    request = parse_json(KINDS[name], path.read_bytes(), str(path))
    # Every option is written out there, with its default: a renamed or new one shows.
    assert json.loads(path.read_text()) == request.model_dump(mode="json")


def test_an_out_folder_with_files_of_others_is_refused_before_the_training(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.txt").write_text("mine")
    request = parse_json(contract.WarmStartRequest, json.dumps(_warm_start(tmp_path)), "request")
    with pytest.raises(InputError, match="holds thesis.txt, which was not made here"):
        run_warm_start(request, lambda *_: None, lambda: False)
    assert not (tmp_path / "run").exists()


def test_everything_is_learnt_on_request_but_wrong_calls_never() -> None:
    tokenizer = load_tokenizer(TOKENIZER)
    conversations = [c for c in demonstrations(30) if any(_is_wrong(m) for m in c.messages)]
    assert conversations, "no demonstration has a wrong call"
    usual = rows_of_conversations(conversations, tokenizer)
    whole = rows_of_conversations(conversations, tokenizer, learn_everything=True)
    for conversation, few, many in zip(conversations, usual, whole, strict=True):
        assert many.ids == few.ids
        assert all(one <= all_ for one, all_ in zip(few.loss_mask, many.loss_mask, strict=True))
        wrong = sum(
            len(encode(tokenizer, [m]).ids) - len(encode_text(tokenizer, "assistant\n")) - 2
            for m in conversation.messages
            if _is_wrong(m)
        )
        assert many.loss_mask.count(0) == wrong + 1


def _is_wrong(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and not message.train
