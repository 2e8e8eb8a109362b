"""Small made-up transcripts in the form of the agent's, for tests and fixtures only."""

from __future__ import annotations

import random

from prime_learner.conversation import (
    AssistantMessage,
    Call,
    Conversation,
    SystemMessage,
    ToolMessage,
    UserMessage,
)

SYSTEM = "You fix failing tests in the repository at /workspace."
_NAMES = ("total", "price", "count", "width", "offset", "limit", "sum", "index")
_OPERATORS = (("+", "-"), ("<", "<="), ("*", "/"), ("===", "!=="))


def demonstration(seed: int, recovery: bool = False) -> Conversation:
    chosen = random.Random(seed)
    left, right, function = chosen.sample(_NAMES, 3)
    good, bad = chosen.choice(_OPERATORS)
    expected, actual = chosen.randrange(100), chosen.randrange(100)
    file = f"/workspace/src/{function}.js"
    old = f"  return {left} {bad} {right};"
    new = f"  return {left} {good} {right};"
    failure = (
        f"1 failed, 3 passed\n\nFAIL test/{function}.test.js::{function} works\n"
        f"  expected: {expected}\n  actual: {actual}\n  in src/{function}.js:2 ({function})"
    )
    view = AssistantMessage(
        role="assistant",
        content="",
        calls=(
            Call(
                name="str_replace_editor",
                arguments={"command": "view", "path": file, "view_range": [1, 4]},
            ),
        ),
    )
    listing = (
        f"     1\texport function {function}({left}, {right}) {{\n     2\t{old}\n     3\t}}\n     4\t"
    )
    head = [
        SystemMessage(role="system", content=SYSTEM),
        UserMessage(role="user", content=f"Make this failing test pass.\n\n{failure}"),
        view,
        ToolMessage(role="tool", content=listing),
    ]
    wrong = []
    if recovery:
        wrong = [
            _edit(file, old, f"  return {right} {bad} {left};", train=False),
            ToolMessage(role="tool", content="The file was edited."),
            _run(),
            ToolMessage(role="tool", content=failure),
            AssistantMessage(
                role="assistant",
                content="",
                calls=(
                    Call(
                        name="str_replace_editor", arguments={"command": "undo_edit", "path": file}
                    ),
                ),
            ),
            ToolMessage(role="tool", content="The last edit was undone."),
        ]
    tail = [
        _edit(file, old, new),
        ToolMessage(role="tool", content="The file was edited."),
        _run(),
        ToolMessage(role="tool", content="4 passed"),
        AssistantMessage(
            role="assistant", content="", calls=(Call(name="submit", arguments={}),)
        ),
    ]
    return Conversation(id=f"demonstration-{seed}", messages=(*head, *wrong, *tail))


def demonstrations(count: int) -> tuple[Conversation, ...]:
    return tuple(demonstration(seed, recovery=seed % 3 == 0) for seed in range(count))


def _edit(file: str, old: str, new: str, train: bool = True) -> AssistantMessage:
    return AssistantMessage(
        role="assistant",
        content="",
        train=train,
        calls=(
            Call(
                name="str_replace_editor",
                arguments={"command": "str_replace", "path": file, "old_str": old, "new_str": new},
            ),
        ),
    )


def _run() -> AssistantMessage:
    return AssistantMessage(
        role="assistant", content="", calls=(Call(name="run_tests", arguments={}),)
    )
