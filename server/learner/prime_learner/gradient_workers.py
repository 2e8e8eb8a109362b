"""The gradient of one step, computed by several processes that share one set of weights.

On a CPU, threads inside of one process wait for each other after every small product; processes with a
thread each meet once a step. The weights lie in shared memory: the optimizer of the first process
changes them in place, and all see it.
"""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

import torch
from torch import Tensor, nn

Work = Callable[[nn.Module, Any], Any]
"""Adds gradients to the model's weights for one part of a step and returns what is to be known of it.
A function of a module: it is found by its name in the other processes."""


class WorkerError(RuntimeError):
    """A process of a run has ended or failed; what the run has saved is whole."""


@dataclass(frozen=True)
class _Worker:
    process: SpawnProcess
    pipe: Connection[Any, Any]
    gradients: tuple[Tensor, ...]
    """Shared; of the weights in their order."""


class GradientWorkers:
    """This process and `count - 1` others. Close it, or use it as a context."""

    def __init__(
        self, model: nn.Module, count: int, prepare: Callable[[nn.Module], None] | None = None
    ) -> None:
        """prepare: what has to be done to the model in each process (settings that are no weights)."""
        self._model = model
        self._workers: list[_Worker] = []
        if count == 1:
            return
        model.share_memory()
        context = torch.multiprocessing.get_context("spawn")
        for _ in range(count - 1):
            ours, theirs = context.Pipe()
            gradients = tuple(torch.zeros_like(w).share_memory_() for w in _trained(model))
            process = context.Process(
                target=_serve, args=(model, theirs, gradients, prepare), daemon=True
            )
            process.start()
            theirs.close()
            self._workers.append(_Worker(process, ours, gradients))

    @property
    def count(self) -> int:
        return 1 + len(self._workers)

    def add_gradients(self, work: Work, parts: Sequence[Any]) -> list[Any]:
        """Runs `work` on each part, at most `count` of them, and adds all gradients to the model's.

        The sum is made in the order of the parts, so the same parts give the same bits.

        Raises:
            WorkerError: another process has ended or failed.
        """
        busy = self._workers[: len(parts) - 1]
        for worker, part in zip(busy, parts[1:], strict=True):
            try:
                worker.pipe.send((work, part))
            except OSError as error:
                raise _ended(worker) from error
        results = [work(self._model, parts[0])]
        for worker in busy:
            try:
                failure, result = worker.pipe.recv()
            except (EOFError, OSError) as error:
                raise _ended(worker) from error
            if failure is not None:
                raise WorkerError(f"a process of the run failed:\n{failure}")
            for weight, gradient in zip(_trained(self._model), worker.gradients, strict=True):
                if weight.grad is None:
                    weight.grad = gradient.clone()
                else:
                    weight.grad.add_(gradient)
            results.append(result)
        return results

    def close(self) -> None:
        for worker in self._workers:
            worker.pipe.close()  # Its end of the input is the worker's end.
        for worker in self._workers:
            worker.process.join(timeout=10)
            if worker.process.is_alive():
                worker.process.kill()
        self._workers = []

    def __enter__(self) -> GradientWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def split_evenly(lengths: Sequence[int], count: int) -> list[list[int]]:
    """Indices in at most `count` parts whose lengths add up to about the same, none of them empty."""
    parts: list[list[int]] = [[] for _ in range(count)]
    sums = [0] * count
    for index in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        least = sums.index(min(sums))
        parts[least].append(index)
        sums[least] += lengths[index]
    return [sorted(part) for part in parts if part]


def _trained(model: nn.Module) -> list[nn.Parameter]:
    return [weight for weight in model.parameters() if weight.requires_grad]


def _ended(worker: _Worker) -> WorkerError:
    worker.process.join(timeout=5)
    return WorkerError(
        f"a process of the run has ended (exit code {worker.process.exitcode}): memory may have run out. "
        "Start the command again; it goes on from its last checkpoint"
    )


def _serve(
    model: nn.Module,
    pipe: Connection[Any, Any],
    gradients: tuple[Tensor, ...],
    prepare: Callable[[nn.Module], None] | None,
) -> None:
    # A terminal's Ctrl-C reaches all of them: the first process ends the step and then closes the pipe.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    torch.set_num_threads(1)
    if prepare is not None:
        prepare(model)
    while True:
        try:
            work, part = pipe.recv()
        except EOFError:
            return
        model.zero_grad(set_to_none=True)
        failure, result = None, None
        try:
            result = work(model, part)
            for weight, gradient in zip(_trained(model), gradients, strict=True):
                if weight.grad is None:
                    gradient.zero_()
                else:
                    gradient.copy_(weight.grad)
        except Exception:  # noqa: BLE001  It is told in the first process.
            failure = traceback.format_exc()
        pipe.send((failure, result))
