"""Checkpoints that are either whole or not there.

    <folder>/step-00000200/   model.safetensors, state.pt, state.json, and last of all COMPLETE

Files are written into a temporary folder and synced, the folder is renamed, the marker comes last. It
holds the sha256 of each file, so a checkpoint that was damaged later is noticed as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .strict import InputError

_MARKER = "COMPLETE"
_NAME = re.compile(r"step-(\d{8})")


@dataclass(frozen=True)
class Checkpoint:
    step: int
    folder: Path


@dataclass(frozen=True)
class Found:
    latest: Checkpoint | None
    damaged: tuple[str, ...]
    """Newer ones that cannot be used, with the reason."""


def write_checkpoint(folder: Path, step: int, write: Callable[[Path], object]) -> Checkpoint:
    """`write` puts files into the folder that it is given. Returns when all is on disk."""
    final = folder / f"step-{step:08d}"
    _write(final, write)
    return Checkpoint(step, final)


def write_folder(final: Path, write: Callable[[Path], object]) -> None:
    """Like `write_checkpoint` under any name; an older folder of this kind is replaced.

    Raises:
        InputError: what is there was not made by this function.
    """
    check_replaceable(final)
    _write(final, write)


def check_replaceable(folder: Path) -> None:
    """Raises InputError where `write_folder` would have to remove what it did not make."""
    if not folder.exists():
        return
    problem = "is no folder"
    if folder.is_dir():
        names = {path.name for path in folder.iterdir()} - {_MARKER}
        if not names:
            return
        try:
            made = set(json.loads((folder / _MARKER).read_text("utf-8")))
        except (OSError, ValueError):
            made = set()
        if names <= made:
            return
        problem = f"holds {min(names - made)}, which was not made here"
    raise InputError(f"{folder} {problem}: remove it yourself or give another folder")


def _write(final: Path, write: Callable[[Path], object]) -> None:
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = final.with_name(f".{final.name}.tmp-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        write(temporary)
        hashes = {path.name: _sha256(path) for path in sorted(temporary.iterdir())}
        for name in hashes:
            _sync(temporary / name)
        _sync(temporary)
        if final.exists():
            (final / _MARKER).unlink(missing_ok=True)
            shutil.rmtree(final)
        temporary.rename(final)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _sync(final.parent)
    marker = final / _MARKER
    marker.write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n", "utf-8")
    _sync(marker)
    _sync(final)


def find_latest(folder: Path) -> Found:
    """The newest checkpoint whose marker is there and whose files are those that were written."""
    damaged: list[str] = []
    for checkpoint in sorted(_all(folder), key=lambda item: -item.step):
        problem = problem_of(checkpoint.folder)
        if problem is None:
            return Found(checkpoint, tuple(damaged))
        damaged.append(f"{checkpoint.folder.name}: {problem}")
    return Found(None, tuple(damaged))


def problem_of(folder: Path) -> str | None:
    """Why a folder of `write_folder` cannot be used; None: it can."""
    try:
        hashes: Mapping[str, str] = json.loads((folder / _MARKER).read_text("utf-8"))
    except (OSError, ValueError):
        return "it was not written to the end"
    for name, expected in hashes.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if _sha256(path) != expected:
            return f"{name} was changed after it was written"
    return None


def remove_old(folder: Path, keep: int) -> None:
    """Leaves the newest `keep` checkpoints (at least one) and no leftovers of a crash."""
    for checkpoint in sorted(_all(folder), key=lambda item: -item.step)[max(keep, 1) :]:
        (checkpoint.folder / _MARKER).unlink(missing_ok=True)
        shutil.rmtree(checkpoint.folder)
    for leftover in folder.glob(".step-*.tmp-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _all(folder: Path) -> list[Checkpoint]:
    if not folder.is_dir():
        return []
    return [
        Checkpoint(int(match[1]), path)
        for path in folder.iterdir()
        if (match := _NAME.fullmatch(path.name)) and path.is_dir()
    ]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
