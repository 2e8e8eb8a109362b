from __future__ import annotations

import io
import json
import math
import random
from pathlib import Path

import pytest
import torch
from prime_learner import contract
from prime_learner.__main__ import run
from prime_learner.attention import learnt_logprobs, packed_logits, use_packed_attention
from prime_learner.calibrate import calibrate, scale_logits
from prime_learner.model import load_model
from prime_learner.packing import pack
from prime_learner.rows import Choice, TrainingRow
from prime_learner.stop import Stop
from prime_learner.strict import InputError
from prime_learner.tokenizer import as_fast_tokenizer, load_tokenizer
from tests.conftest import TINY, spread_model
from tests.make_fixtures import TOKENIZER
from transformers import Qwen2ForCausalLM

PROMPT = 8
OPTIONS = 6


def _model(vocabulary: int) -> Qwen2ForCausalLM:
    model = spread_model(TINY, vocabulary)
    scale_logits(model, 3)
    use_packed_attention(model)
    return model.eval()


@torch.no_grad()
def _rows(model: Qwen2ForCausalLM, count: int, factor: float | None) -> list[TrainingRow]:
    """Each a choice of one token, drawn with the logits times the factor; None: drawn whatever they say."""
    chosen = random.Random(5)
    vocabulary = model.config.vocab_size
    rows: list[TrainingRow] = []
    for number in range(count):
        ids = chosen.sample(range(vocabulary), OPTIONS)
        weights = [chosen.uniform(0.2, 1) for _ in ids]
        bias = tuple(math.log(weight / sum(weights)) for weight in weights)
        rows.append(
            TrainingRow(
                id=f"row-{number}",
                ids=(*(chosen.randrange(vocabulary) for _ in range(PROMPT)), ids[0]),
                loss_mask=(*(0 for _ in range(PROMPT)), 1),
                choices=(Choice(at=PROMPT, ids=tuple(ids), bias=bias),),
            )
        )
    logits = packed_logits(model, pack(rows)).view(count, PROMPT + 1, vocabulary)[:, PROMPT - 1]
    for number, row in enumerate(rows):
        (choice,) = row.choices or ()
        energies = (factor or 0) * logits[number, list(choice.ids)] + torch.tensor(choice.bias)
        drawn = chosen.choices(choice.ids, energies.softmax(0).tolist())[0]
        rows[number] = row.model_copy(update={"ids": (*row.ids[:PROMPT], drawn)})
    return rows


@torch.no_grad()
def _loss(model: Qwen2ForCausalLM, rows: list[TrainingRow]) -> float:
    return -float(learnt_logprobs(model, pack(rows)).sum()) / len(rows)


def test_the_factor_is_the_one_that_the_rows_were_drawn_with() -> None:
    model = _model(50)
    found = calibrate(model, _rows(model, 800, 0.4), 256)
    assert found.factor == pytest.approx(0.4, abs=0.06)
    assert found.loss < min(found.loss_before, found.loss_without)


def test_a_network_that_knows_nothing_of_the_rows_does_not_count() -> None:
    model = _model(50)
    found = calibrate(model, _rows(model, 800, None), 256)
    assert found.factor < 0.05
    assert found.loss <= found.loss_without < found.loss_before


def test_losses_are_those_of_the_model_before_and_after() -> None:
    model = _model(50)
    rows = _rows(model, 60, 0.5)
    found = calibrate(model, rows, 64)
    assert found.rows == 60
    assert found.loss_before == pytest.approx(_loss(model, rows), rel=1e-4)
    bias = [
        next(own for at, own in zip(choice.ids, choice.bias, strict=True) if at == row.ids[-1])
        for row in rows
        for choice in row.choices or ()
    ]
    assert found.loss_without == pytest.approx(-sum(bias) / len(rows), rel=1e-5)
    scale_logits(model, found.factor)
    assert found.loss == pytest.approx(_loss(model, rows), rel=1e-4)
    # Nothing is left to do.
    assert calibrate(model, rows, 64).factor == pytest.approx(1, abs=0.01)


def test_a_row_without_choices_is_refused_by_its_name() -> None:
    row = TrainingRow(id="plain", ids=(1, 2, 3), loss_mask=(0, 1, 1))
    with pytest.raises(InputError, match="row plain has no choices"):
        calibrate(_model(50), [row], 64)


def test_the_command_writes_the_model_with_other_logits(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(TOKENIZER)
    model = _model(tokenizer.get_vocab_size())
    rows = _rows(model, 40, 0.3)
    folder = tmp_path / "model"
    model.save_pretrained(folder)
    as_fast_tokenizer(tokenizer, TINY.context).save_pretrained(folder)
    data = tmp_path / "rows.jsonl"
    data.write_text(
        "".join(
            json.dumps(row.model_dump(mode="json", exclude={"reinforcement"})) + "\n" for row in rows
        ),
        "utf-8",
    )
    request = {
        "contract": 1,
        "model": str(folder),
        "data": {"kind": "rows", "paths": [str(data)]},
        "out": str(tmp_path / "out"),
    }
    events = io.StringIO()
    assert run("calibrate", io.StringIO(json.dumps(request) + "\n"), events, Stop()) == 0
    done = json.loads(events.getvalue().splitlines()[-1])
    assert done["event"] == "done"
    scaled = load_model(tmp_path / "out")
    use_packed_attention(scaled)
    packed = pack(rows[:1])
    with torch.no_grad():
        logits, before = packed_logits(scaled.eval(), packed), packed_logits(model, packed)
    torch.testing.assert_close(logits, before * done["factor"], rtol=1e-4, atol=1e-4)


def test_the_command_says_what_is_wrong_with_its_data(tmp_path: Path) -> None:
    request = {"contract": contract.VERSION, "model": str(tmp_path), "out": str(tmp_path / "out")}
    events = io.StringIO()
    assert run("calibrate", io.StringIO(json.dumps(request) + "\n"), events, Stop()) == 2
    assert "data" in json.loads(events.getvalue().splitlines()[-1])["message"]
