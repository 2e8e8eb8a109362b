from __future__ import annotations

from pathlib import Path

import pytest
from prime_learner.checkpoint import (
    check_replaceable,
    find_latest,
    problem_of,
    remove_old,
    write_checkpoint,
    write_folder,
)
from prime_learner.strict import InputError


def _write(folder: Path, step: int) -> Path:
    return write_checkpoint(
        folder, step, lambda inner: (inner / "weights").write_text(str(step))
    ).folder


def test_finds_the_newest(tmp_path: Path) -> None:
    assert find_latest(tmp_path / "none").latest is None
    _write(tmp_path, 9)
    newest = _write(tmp_path, 10)
    found = find_latest(tmp_path)
    assert found.latest is not None
    assert (found.latest.step, found.latest.folder) == (10, newest)
    assert found.damaged == ()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda folder: (folder / "COMPLETE").unlink(), "it was not written to the end"),
        (lambda folder: (folder / "COMPLETE").write_text(""), "it was not written to the end"),
        (lambda folder: (folder / "weights").unlink(), "weights is missing"),
        (lambda folder: (folder / "weights").write_text("1x"), "weights was changed after"),
    ],
)
def test_takes_an_older_one_when_the_newest_is_damaged(
    tmp_path: Path, damage: object, reason: str
) -> None:
    assert callable(damage)
    older = _write(tmp_path, 1)
    damage(_write(tmp_path, 2))
    found = find_latest(tmp_path)
    assert found.latest is not None
    assert found.latest.folder == older
    assert found.damaged[0].startswith(f"step-00000002: {reason}")


def test_a_write_that_fails_leaves_the_old_state(tmp_path: Path) -> None:
    older = _write(tmp_path, 1)

    def fail(folder: Path) -> None:
        (folder / "weights").write_text("half")
        raise OSError("disk full")

    for name in ("step-00000001", "step-00000002"):
        with pytest.raises(OSError, match="disk full"):
            write_folder(tmp_path / name, fail)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001"]
    assert problem_of(older) is None


def test_the_marker_comes_last(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def write(folder: Path) -> None:
        (folder / "weights").write_text("x")
        seen.append(sorted(path.name for path in tmp_path.rglob("*") if path.name == "COMPLETE"))

    write_folder(tmp_path / "model", write)
    assert seen == [[]]
    assert problem_of(tmp_path / "model") is None


def test_replaces_a_folder_of_that_name(tmp_path: Path) -> None:
    for text in ("old", "new"):
        write_folder(tmp_path / "model", lambda f, t=text: (f / "weights").write_text(t))
    assert (tmp_path / "model" / "weights").read_text() == "new"
    assert problem_of(tmp_path / "model") is None


def test_keeps_the_newest_and_clears_leftovers(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        _write(tmp_path, step)
    (tmp_path / ".step-00000004.tmp-99").mkdir()
    remove_old(tmp_path, keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000002", "step-00000003"]


def test_never_removes_what_it_did_not_make(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    check_replaceable(folder)
    write_folder(folder, lambda inner: (inner / "weights").write_text("x"))
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds notes.txt, which was not made here: remove it yourself"):
        write_folder(folder, lambda _: None)
    assert sorted(path.name for path in folder.iterdir()) == ["COMPLETE", "notes.txt", "weights"]
    with pytest.raises(InputError, match="notes.txt is no folder"):
        check_replaceable(folder / "notes.txt")


def test_a_checkpoint_without_its_marker_is_written_anew(tmp_path: Path) -> None:
    (_write(tmp_path, 1) / "COMPLETE").unlink()
    assert problem_of(_write(tmp_path, 1)) is None
