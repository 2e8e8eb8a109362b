"""A run folder belongs to one process: two would write each other's checkpoints and metrics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from .strict import InputError


@contextmanager
def sole_user(run: Path) -> Iterator[None]:
    """Raises InputError while another process holds the folder; a process that dies lets go of it."""
    run.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(run / "in-use.lock", timeout=0):
            yield
    except Timeout:
        raise InputError(
            f"another process trains in {run}: wait for it, end it, or name another folder"
        ) from None
