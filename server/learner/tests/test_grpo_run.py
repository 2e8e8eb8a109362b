"""The GRPO command: steps, published versions, resumption, and what goes wrong in practice."""

from __future__ import annotations

import hashlib
import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from prime_learner import contract, grpo_run
from prime_learner.__main__ import run
from prime_learner.attention import learnt_logprobs, use_packed_attention
from prime_learner.checkpoint import problem_of, write_folder
from prime_learner.grpo import EXCLUSIONS
from prime_learner.grpo_run import GrpoRun, GrpoTraining, HaltOptions, StepLine, open_run
from prime_learner.model import load_model, new_model
from prime_learner.packing import pack
from prime_learner.rows import TrainingRow
from prime_learner.stop import Stop
from prime_learner.strict import InputError
from prime_learner.tokenizer import as_fast_tokenizer, load_tokenizer
from tests.conftest import TINY, write_lines
from tests.make_fixtures import TOKENIZER
from torch import Tensor
from transformers import Qwen2ForCausalLM

LEARNER = Path(__file__).parent.parent
VOCABULARY = 400
OPTIONS = GrpoTraining(rate=1e-3, warmup_steps=2, tokens_per_pack=64)
Event = dict[str, object]


def _model() -> Qwen2ForCausalLM:
    return new_model(TINY, VOCABULARY, seed=1)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., GrpoRun]:
    def make(name: str = "run", options: GrpoTraining = OPTIONS, start: str = "s") -> GrpoRun:
        folder = tmp_path / name
        return open_run(_model(), options, folder, folder / "published", start)

    return make


def _row(
    name: str, sampled: Sequence[int], reward: float | None, version: int, group: str
) -> TrainingRow:
    prompt = (1, 20, 30)
    return TrainingRow.model_validate(
        {
            "id": name,
            "ids": (*prompt, *sampled),
            "loss_mask": (0, 0, 0, *(1 for _ in sampled)),
            "reinforcement": {
                "group": group,
                "rollout": name,
                "policy_version": version,
                "logprobs": (0.0, 0.0, 0.0, *(-5.99 for _ in sampled)),
                "reward": reward,
                "in_gradient": True,
            },
        }
    )


def _rows(version: int, seed: int = 0) -> list[TrainingRow]:
    numbers = np.random.default_rng(seed)
    return [
        _row(
            f"{seed}-{group}-{n}", [int(i) for i in numbers.integers(7, VOCABULARY, 4 + n)],
            float(n == group), version, f"{seed}-{group}",
        )
        for group in range(2)
        for n in range(4)
    ]


def _file(folder: Path, name: str, rows: Sequence[TrainingRow]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return write_lines(folder / name, *(row.model_dump_json() for row in rows))


def _step(run: GrpoRun, folder: Path, seed: int, version: int | None = None) -> grpo_run.Answer:
    at = run.progress.policy_version if version is None else version
    return run.step(
        StepLine(rows=_file(folder, f"rows-{seed}.jsonl", _rows(at, seed)), policy_version=at)
    )


def _weights(model: Qwen2ForCausalLM) -> dict[str, Tensor]:
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def _same(left: Qwen2ForCausalLM, right: Qwen2ForCausalLM) -> bool:
    pairs = zip(left.parameters(), right.parameters(), strict=True)
    return all(torch.equal(one, other) for one, other in pairs)


def _onnx_logprobs(folder: Path, ids: Sequence[int]) -> list[float]:
    """Token by token with a cache, as the sampler reads a version."""
    manifest = json.loads((folder / "export.json").read_text())
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    names = [
        f"{layer}.{part}" for layer in range(manifest["layers"]) for part in ("key", "value")
    ]
    empty = np.zeros((1, manifest["kv_heads"], 0, manifest["head_size"]), np.float32)
    cache = dict.fromkeys(names, empty)
    values: list[float] = []
    for at, token in enumerate(ids[:-1]):
        feeds = {
            "input_ids": np.array([[token]]),
            "position_ids": np.array([[at]]),
            "newest": np.zeros((1, 1), np.int64),
            "cache_bias": np.zeros((1, 1, 1, at), np.float32),
            "new_bias": np.zeros((1, 1, manifest["heads"] // manifest["kv_heads"], 1), np.float32),
            **{f"past_key_values.{name}": part for name, part in cache.items()},
        }
        logits, *new = session.run(["logits", *(f"new.{name}" for name in names)], feeds)
        cache = {
            name: np.concatenate((cache[name], part), axis=2)
            for name, part in zip(names, new, strict=True)
        }
        predicted = torch.from_numpy(logits[0]).log_softmax(-1)
        values.append(float(predicted[ids[at + 1]]))
    return values


def _torch_logprobs(model: Qwen2ForCausalLM, ids: Sequence[int]) -> list[float]:
    use_packed_attention(model)
    row = TrainingRow(id="x", ids=tuple(ids), loss_mask=(0, *(1 for _ in ids[1:])))
    with torch.no_grad():
        values: list[float] = learnt_logprobs(model, pack([row])).tolist()
    return values


def test_each_step_publishes_weights_that_answer_as_the_trainer_does(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened()
    ids = [5, 300, 41, 7, 7, 399, 128]
    seen: list[list[float]] = []
    for seed in range(3):
        folder = run.published.folder
        assert folder.name == f"policy-v{seed:06d}"
        assert problem_of(folder) is None
        assert sorted(path.name for path in folder.iterdir()) == [
            "COMPLETE", "config.json", "export.json", "model.onnx", "model.safetensors",
        ]
        actual = _onnx_logprobs(folder, ids)
        assert actual == pytest.approx(_torch_logprobs(run.model, ids), abs=1e-4)
        assert _torch_logprobs(load_model(folder), ids) == pytest.approx(
            _torch_logprobs(run.model, ids), abs=1e-6
        )
        digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
        assert run.published.weights_sha256 == digest
        probe = run.published.probe
        assert _onnx_logprobs(folder, probe.ids) == pytest.approx(probe.logprobs, abs=1e-4)
        # The version before does not answer so: a swap that was never made shows.
        assert all(max(abs(a - b) for a, b in zip(actual, old, strict=True)) > 1e-3 for old in seen)
        seen.append(actual)
        _step(run, tmp_path, seed)
    assert run.model.lm_head.weight is run.model.model.embed_tokens.weight


def test_metrics_say_what_was_used_and_what_was_not(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened()
    rows = [
        *_rows(0),
        *(_row(f"equal{n}", (9, 10), 1, 0, "equal") for n in range(2)),
        _row("cancelled", (9,), None, 0, "equal"),
    ]
    fields = run.step(StepLine(rows=_file(tmp_path, "r", rows), policy_version=0)).fields
    assert fields["solved_rate"] == pytest.approx(0.4)
    assert fields["reward_mean"] == pytest.approx(0.4)
    assert fields["zero_variance_share"] == pytest.approx(1 / 3)
    assert fields["excluded"] == {EXCLUSIONS["zero_variance"]: 2, EXCLUSIONS["invalid"]: 1}
    assert (fields["rollouts"], fields["rollouts_in_gradient"]) == (11, 8)
    assert (fields["ratio_mean"], fields["ratio_max"]) == (1, 1)
    # A new model is nearly uniform over 400 entries: log 400 = 5.99.
    assert fields["entropy"] == pytest.approx(5.99, abs=0.02)
    difference = fields["max_logprob_difference"]
    assert isinstance(difference, float)
    assert 0 < difference < 0.5
    assert fields["mismatch_kl_k3"] == pytest.approx(0, abs=0.05)
    assert (fields["policy_version"], fields["new_policy_version"]) == (0, 1)
    assert fields["rate"] == pytest.approx(5e-4)
    seconds = fields["seconds"]
    assert isinstance(seconds, dict)
    assert set(seconds) == {"read", "prepare", "gradient", "optimizer", "checkpoint", "publish"}


def test_a_killed_run_repeats_its_step_with_the_same_bits(
    tmp_path: Path, opened: Callable[..., GrpoRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = opened("whole")
    answers = [_step(whole, tmp_path, seed).fields for seed in range(4)]

    class Killed(BaseException):
        pass

    def kill(*_: object) -> None:
        raise Killed

    for place in ("write_checkpoint", "remove_old", "publish_version"):
        run = opened(place)
        _step(run, tmp_path, 0)
        _step(run, tmp_path, 1)
        with monkeypatch.context() as patch:
            patch.setattr(grpo_run, place, kill)
            with pytest.raises(Killed):
                _step(run, tmp_path, 2)
        torch.manual_seed(999)
        again = opened(place)
        # Before the checkpoint the step is done again, behind it the answer is repeated.
        lost = place == "write_checkpoint"
        assert again.progress.policy_version == (2 if lost else 3)
        repeated = _step(again, tmp_path, 2, version=2).fields
        assert repeated["repeated"] is not lost
        assert repeated["loss"] == answers[2]["loss"]
        _step(again, tmp_path, 3)
        assert _same(whole.model, again.model), place
        assert again.published.weights_sha256 == whole.published.weights_sha256
        lines = (tmp_path / place / "metrics.jsonl").read_text().splitlines()
        assert [json.loads(line)["step"] for line in lines] == [1, 2, 3, 4]


def test_goes_on_from_the_checkpoint_before_a_damaged_one(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened()
    for seed in range(2):
        _step(run, tmp_path, seed)
    expected = _weights(run.model)
    (tmp_path / "run/checkpoints/step-00000002/state.pt").write_bytes(b"")
    again = opened()
    assert again.progress.policy_version == 1
    # The version that was lost is not left lying about.
    assert not (tmp_path / "run/published/policy-v000002").exists()
    _step(again, tmp_path, 1)
    assert all(torch.equal(weight, expected[n]) for n, weight in _weights(again.model).items())


def test_a_batch_of_equal_rewards_changes_nothing_and_the_run_goes_on(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened()
    before = _weights(run.model)
    rows = [_row(str(n), (9, 10), 0, 0, "g") for n in range(4)]
    fields = run.step(StepLine(rows=_file(tmp_path, "r", rows), policy_version=0)).fields
    assert (fields["updated"], fields["skipped"], fields["new_policy_version"]) == (False, False, 0)
    assert fields["zero_variance_share"] == 1
    assert all(torch.equal(weight, before[n]) for n, weight in _weights(run.model).items())
    assert _step(run, tmp_path, 1).fields["new_policy_version"] == 1


def test_the_lone_winner_of_a_group_is_learnt(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened()
    ids = [1, 20, 30, 50, 51, 52]
    before = sum(_torch_logprobs(run.model, ids)[2:])
    rows = [_row(str(n), [50 + 10 * n + k for k in range(3)], float(n == 0), 0, "g") for n in range(4)]
    fields = run.step(StepLine(rows=_file(tmp_path, "r", rows), policy_version=0)).fields
    assert fields["rollouts_in_gradient"] == 4
    assert sum(_torch_logprobs(run.model, ids)[2:]) > before


def test_a_step_that_is_not_finite_changes_nothing_and_is_counted(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened(options=OPTIONS.model_copy(update={"stop_after_skipped": 2}))
    with torch.no_grad():
        run.model.model.norm.weight[0] = float("nan")
    before = _weights(run.model)
    fields = _step(run, tmp_path, 0).fields
    assert (fields["skipped"], fields["skipped_so_far"], fields["new_policy_version"]) == (True, 1, 0)
    for name, weight in _weights(run.model).items():
        torch.testing.assert_close(weight, before[name], equal_nan=True, atol=0, rtol=0)
    with pytest.raises(InputError, match=r"2 steps in a row were not finite \(the last is step 2\)"):
        _step(run, tmp_path, 1)


@pytest.mark.parametrize(
    ("halt", "reason"),
    [
        (HaltOptions(entropy_below=6.1), "entropy 5.9.* is below halt.entropy_below"),
        (HaltOptions(mismatch_above=1e-9), "mismatch of sampler and trainer .* is above"),
    ],
)
def test_a_threshold_halts_before_the_step_is_taken(
    tmp_path: Path, opened: Callable[..., GrpoRun], halt: HaltOptions, reason: str
) -> None:
    run = opened(options=OPTIONS.model_copy(update={"halt": halt}))
    before = _weights(run.model)
    answer = _step(run, tmp_path, 0)
    assert answer.event == "halted"
    assert re.match(reason, str(answer.fields["reason"]))
    assert run.progress.step == 0
    assert all(torch.equal(weight, before[n]) for n, weight in _weights(run.model).items())
    # With the threshold away the same run goes on.
    assert _step(opened(), tmp_path, 0).event == "step"


def test_steps_for_another_version_and_rows_of_the_future_are_refused(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened()
    with pytest.raises(InputError, match="for policy version 3, but the weights are version 0"):
        _step(run, tmp_path, 0, version=3)
    path = _file(tmp_path, "future", _rows(1))
    with pytest.raises(InputError, match="rows of policy version 1, but the weights that learn"):
        run.step(StepLine(rows=path, policy_version=0))
    with pytest.raises(InputError, match=r"missing\.jsonl cannot be read"):
        run.step(StepLine(rows=tmp_path / "missing.jsonl", policy_version=0))
    assert run.progress.step == 0


def test_rows_that_are_too_stale_are_left_out_and_counted(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened(options=OPTIONS.model_copy(update={"max_staleness": 1}))
    for seed in range(2):
        _step(run, tmp_path, seed)
    rows = [*_rows(0, 7), *_rows(1, 8)]
    fields = run.step(StepLine(rows=_file(tmp_path, "r", rows), policy_version=2)).fields
    assert fields["excluded"] == {"policy version older than 1": 8}
    assert (fields["staleness_mean"], fields["staleness_max"]) == (1.5, 2)


def test_a_run_does_not_go_on_with_other_options_or_weights(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    _step(opened(), tmp_path, 0)
    with pytest.raises(InputError, match="was made with rate = 0.001, now it is 0.1"):
        opened(options=OPTIONS.model_copy(update={"rate": 0.1}))
    with pytest.raises(InputError, match="from other first weights"):
        opened(start="t")
    assert opened(options=OPTIONS.model_copy(update={"keep_published": 9})).progress.step == 1


def test_old_versions_and_checkpoints_are_removed(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened()
    for seed in range(4):
        _step(run, tmp_path, seed)
    assert sorted(path.name for path in (tmp_path / "run/published").iterdir()) == [
        "policy-v000002", "policy-v000003", "policy-v000004",
    ]
    assert len(list((tmp_path / "run/checkpoints").iterdir())) == 2


def test_supervised_steps_use_the_same_optimiser_and_rate(
    tmp_path: Path, opened: Callable[..., GrpoRun], rows: Sequence[TrainingRow]
) -> None:
    run = opened(options=OPTIONS.model_copy(update={"tokens_per_pack": 1024}))
    losses = []
    for seed in range(3):
        path = _file(tmp_path, f"s{seed}", rows[:4])
        version = run.progress.policy_version
        # The same rows again are another step, because the version is another one.
        line = StepLine(kind="supervised", rows=path, policy_version=version)
        fields = run.step(line).fields
        losses.append(fields["loss"])
    assert losses == sorted(losses, key=float, reverse=True)  # type: ignore[arg-type]
    assert [fields["kind"], fields["rate"], fields["new_policy_version"]] == ["supervised", 1e-3, 3]
    with pytest.raises(InputError, match="has a reinforcement part, which a supervised step would not use"):
        run.step(
            StepLine(kind="supervised", rows=_file(tmp_path, "g", _rows(3)), policy_version=3)
        )


def _model_folder(folder: Path) -> Path:
    fast = as_fast_tokenizer(load_tokenizer(TOKENIZER), TINY.context)

    def write(new: Path) -> None:
        _model().save_pretrained(new)
        fast.save_pretrained(new)

    write_folder(folder, write)
    return folder


def _request(folder: Path) -> dict[str, object]:
    return {
        "contract": 1,
        "model": str(_model_folder(folder / "model")),
        "training": {"rate": 1e-3},
        "threads": 1,
        "run": str(folder / "run"),
        "publish": str(folder / "published"),
    }


def _line(folder: Path, version: int) -> str:
    path = _file(folder, f"rows-{version}.jsonl", _rows(version, version))
    return json.dumps({"rows": str(path), "policy_version": version})


def test_a_whole_session_over_lines(tmp_path: Path) -> None:
    lines = [
        json.dumps(_request(tmp_path)),
        _line(tmp_path, 0),
        _line(tmp_path, 1),
        json.dumps({"finish": {"out": str(tmp_path / "out")}}),
    ]
    stream = io.StringIO()
    code = run("grpo", io.StringIO("\n".join(lines) + "\n"), stream, Stop())
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert code == 0
    assert [event["event"] for event in events] == [
        "started", "ready", "published", "step", "published", "step", "published", "done",
    ]
    published = [event for event in events if event["event"] == "published"]
    assert [event["policy_version"] for event in published] == [0, 1, 2]
    assert len({event["weights_sha256"] for event in published}) == 3
    assert (events[-1]["steps"], events[-1]["policy_version"]) == (2, 2)
    ids = [3, 100, 200]
    assert _torch_logprobs(load_model(tmp_path / "out"), ids) == pytest.approx(
        _onnx_logprobs(Path(published[-1]["folder"]), ids), abs=1e-4
    )
    assert load_tokenizer(tmp_path / "out").get_vocab_size() == VOCABULARY


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", "line: Invalid JSON"),
        ('{"rows": "r", "policy_version": 0, "epochs": 2}', "line: epochs: unknown option"),
        ('{"finish": {"to": "x"}}', "line: finish.to: unknown option"),
        ('{"rows": "r"}', "line: policy_version: is missing"),
    ],
)
def test_lines_that_are_not_understood_end_the_run(
    tmp_path: Path, line: str, message: str
) -> None:
    stream = io.StringIO()
    source = io.StringIO(json.dumps(_request(tmp_path)) + f"\n{line}\n")
    assert run("grpo", source, stream, Stop()) == contract.EXIT_INPUT
    last = json.loads(stream.getvalue().splitlines()[-1])
    assert last["message"].startswith(message)


def test_a_signal_ends_the_wait_for_a_step_and_the_run_goes_on_later(
    tmp_path: Path
) -> None:
    request = json.dumps(_request(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-m", "prime_learner", "grpo"],
        cwd=LEARNER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{request}\n{_line(tmp_path, 0)}\n")
    process.stdin.flush()
    events: list[Event] = []
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1]["event"] == "published" and events[-1]["policy_version"] == 1:
            process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == contract.EXIT_INTERRUPTED
    assert (events[-1]["event"], events[-1]["policy_version"]) == ("interrupted", 1)

    stream = io.StringIO()
    # The caller is gone: no finish line.
    code = run("grpo", io.StringIO(f"{request}\n{_line(tmp_path, 1)}\n"), stream, Stop())
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert code == contract.EXIT_INTERRUPTED
    assert (events[1]["event"], events[1]["step"], events[1]["resumed"]) == ("ready", 1, True)
    assert events[-2]["text"] == "the input ended without a finish line"
    assert (events[-1]["steps"], events[-1]["policy_version"]) == (2, 2)


def test_what_a_caller_adds_to_a_version_does_not_stop_its_repair(
    tmp_path: Path, opened: Callable[..., GrpoRun]
) -> None:
    run = opened()
    folder = run.published.folder
    (folder / "policy.json").write_text("{}")
    assert opened().published.folder == folder
    assert (folder / "policy.json").exists()
    (folder / "model.onnx").write_bytes(b"damaged")
    again = opened()
    assert problem_of(folder) is None
    assert _onnx_logprobs(folder, again.published.probe.ids) == pytest.approx(
        again.published.probe.logprobs, abs=1e-4
    )


def test_weights_that_are_not_tied_are_published_too(tmp_path: Path) -> None:
    model = _model()
    with torch.no_grad():
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.flip(0).clone())
    model.config.tie_word_embeddings = False
    run = open_run(model, OPTIONS, tmp_path, tmp_path / "published", "s")
    ids = run.published.probe.ids
    logprobs = pytest.approx(run.published.probe.logprobs, abs=1e-4)
    assert _onnx_logprobs(run.published.folder, ids) == logprobs
    assert _torch_logprobs(_model(), ids) != logprobs


def test_two_processes_take_the_steps_of_one_to_rounding(tmp_path: Path) -> None:
    options = OPTIONS.model_copy(update={"tokens_per_pack": 24})
    models = []
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        run = open_run(
            _model(), options, folder, folder / "published", "s", processes=processes
        )
        try:
            answer = _step(run, folder, 1)
            assert answer.fields["updated"] is True
            rows = [
                row.model_copy(update={"reinforcement": None}) for row in _rows(0, seed=2)
            ]
            run.step(
                StepLine(
                    rows=_file(folder, "demonstrations.jsonl", rows),
                    policy_version=1,
                    kind="supervised",
                )
            )
        finally:
            run.close()
        models.append(run.model)
    for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(other, one, atol=1e-5, rtol=1e-3)
