"""`python -m prime_learner COMMAND`: see contract.py."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from typing import TextIO

from .stop import Stop
from .strict import InputError

COMMANDS = (
    "train-tokenizer",
    "encode",
    "warm-start",
    "export",
    "grpo",
    "evaluate-loss",
    "calibrate",
    "checkpoint-to-model",
)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        print(f"usage: python -m prime_learner {{{','.join(COMMANDS)}}} < request.json", file=sys.stderr)
        return 2
    stream = _claim_stdout()
    stop = Stop()
    if arguments[0] in ("warm-start", "grpo"):
        stop.listen()
    return run(arguments[0], sys.stdin, stream, stop)


def run(command: str, source: TextIO, stream: TextIO, stop: Stop) -> int:
    """One request line from `source` (for grpo more behind it), events to `stream`. Returns the exit code."""
    # Imported here, so that a wrong command is answered at once: torch takes seconds.
    import torch
    import transformers

    from . import commands, contract
    from .strict import parse_json

    events = contract.Events(stream)
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    events.send("started", {"command": command, "versions": versions})
    try:
        line = stop.read_line(source)
        where = "request"
        outcome: commands.Outcome
        if line is None:
            outcome = commands.Outcome("interrupted", {"steps": 0, "resumed_from": 0})
        elif command == "train-tokenizer":
            outcome = commands.run_train_tokenizer(
                parse_json(contract.TrainTokenizerRequest, line, where)
            )
        elif command == "encode":
            outcome = commands.run_encode(parse_json(contract.EncodeRequest, line, where))
        elif command == "warm-start":
            outcome = commands.run_warm_start(
                parse_json(contract.WarmStartRequest, line, where), events.send, stop.asked
            )
        elif command == "grpo":
            outcome = commands.run_grpo(
                parse_json(contract.GrpoRequest, line, where),
                events.send,
                lambda: stop.read_line(source),
            )
        elif command == "evaluate-loss":
            outcome = commands.run_evaluate_loss(
                parse_json(contract.EvaluateLossRequest, line, where)
            )
        elif command == "calibrate":
            outcome = commands.run_calibrate(parse_json(contract.CalibrateRequest, line, where))
        elif command == "checkpoint-to-model":
            outcome = commands.run_checkpoint_to_model(
                parse_json(contract.CheckpointToModelRequest, line, where)
            )
        else:
            outcome = commands.run_export(parse_json(contract.ExportRequest, line, where))
    except InputError as error:
        events.send("failed", {"kind": "input", "message": str(error)})
        return contract.EXIT_INPUT
    except Exception as error:  # the last border: the other side must learn that it ended, and why
        traceback.print_exc()
        events.send("failed", {"kind": "internal", "message": f"{type(error).__name__}: {error}"})
        return contract.EXIT_FAILED
    events.send(outcome.event, outcome.fields)
    return contract.EXITS[outcome.event]


def _claim_stdout() -> TextIO:
    """Standard output for events alone: what libraries print goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(own, "w", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
