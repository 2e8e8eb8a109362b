"""Checking what comes from outside: unknown keys, wrong types and non-finite numbers are errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError


class InputError(Exception):
    """Input of the caller that cannot be used. The text says what, where, and what to do next."""


class Strict(BaseModel):
    """Base of everything that is read from JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=Strict)


def parse_json(model: type[Model], text: str | bytes, where: str) -> Model:
    """Parses one JSON text.

    Raises:
        InputError: names `where`, the key and what is wrong with it; the first three problems.
    """
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{where}: {_describe(error)}") from None


def read_json_lines(model: type[Model], path: Path) -> Iterator[tuple[int, Model]]:
    """Yields line number (from 1) and value; empty lines are skipped.

    Raises:
        InputError: the file cannot be read, or a line is not what `model` says.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, parse_json(model, line, f"{path}, line {number}")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _describe(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False)
    shown = [f"{_place(problem['loc'])}{_reason(problem)}" for problem in problems[:3]]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def _place(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return f"{text.lstrip('.')}: " if text else ""


def _reason(problem: object) -> str:
    assert isinstance(problem, dict)
    if problem["type"] == "extra_forbidden":
        return "unknown option"
    if problem["type"] == "missing":
        return "is missing"
    message = str(problem["msg"])
    return message.removeprefix("Value error, ")
