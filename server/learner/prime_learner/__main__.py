"""`python -m prime_learner COMMAND`: see contract.py."""

from __future__ import annotations

import os
import platform
import signal
import sys
import threading
import traceback
from typing import TextIO

from .strict import InputError

COMMANDS = ("train-tokenizer", "warm-start", "export")


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        print(f"usage: python -m prime_learner {{{','.join(COMMANDS)}}} < request.json", file=sys.stderr)
        return 2
    stream = _claim_stdout()
    stopping = threading.Event()
    if arguments[0] == "warm-start":
        _stop_gently(stopping)
    return run(arguments[0], sys.stdin, stream, stopping)


def _stop_gently(stopping: threading.Event) -> None:
    """The first signal asks for a checkpoint and an end; a second one ends the process at once."""

    def stop(*_: object) -> None:
        stopping.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def run(command: str, source: TextIO, stream: TextIO, stopping: threading.Event) -> int:
    """One request line from `source`, events to `stream`. Returns the exit code."""
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
        line = source.readline()
        where = "request"
        if command == "train-tokenizer":
            outcome = commands.run_train_tokenizer(
                parse_json(contract.TrainTokenizerRequest, line, where)
            )
        elif command == "warm-start":
            outcome = commands.run_warm_start(
                parse_json(contract.WarmStartRequest, line, where), events.send, stopping.is_set
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
    return contract.EXIT_DONE if outcome.event == "done" else contract.EXIT_INTERRUPTED


def _claim_stdout() -> TextIO:
    """Standard output for events alone: what libraries print goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(own, "w", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
