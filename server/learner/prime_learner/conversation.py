"""How a conversation becomes token ids, and how a sampled reply becomes calls again.

A call is written with special tokens of its own (`<|call|>name<|arg|>key<|value|>text<|end_call|>`),
so that nothing inside a value needs escaping. The spelling of a special token inside a content or a
value is ordinary text and is encoded as such: what a file says cannot end a turn or start a call.
docs/learner.md describes the format; the fixtures in tests/fixtures/golden pin it for the TypeScript side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, JsonValue, model_validator
from tokenizers import Tokenizer

from .rows import Choice
from .strict import InputError, Strict

SPECIAL_TOKENS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|call|>",
    "<|arg|>",
    "<|value|>",
    "<|end_call|>",
)
"""In the order of their ids, from 0."""

PADDING_ID, START_ID, END_OF_TURN_ID, CALL_ID, ARGUMENT_ID, VALUE_ID, END_CALL_ID = range(7)

_SPELLING = re.compile("|".join(re.escape(token) for token in SPECIAL_TOKENS))


class Call(Strict):
    name: str = Field(min_length=1)
    arguments: dict[str, JsonValue]

    @model_validator(mode="after")
    def _no_fractions(self) -> Call:
        # Python writes 1.0 and JavaScript 1: no tool needs fractions, so they are not in the format.
        for name, value in self.arguments.items():
            if _has_fraction(value):
                raise ValueError(f"argument {name} of {self.name}: numbers must be whole")
        return self


class SystemMessage(Strict):
    role: Literal["system"]
    content: str


class UserMessage(Strict):
    role: Literal["user"]
    content: str


class AssistantMessage(Strict):
    role: Literal["assistant"]
    content: str
    """Text before the first call, without the calls."""
    calls: tuple[Call, ...] = ()
    train: bool = True
    """False: context only, such as the wrong call of a demonstration of a recovery."""
    choices: tuple[Choice, ...] | None = None
    """For a reply from a set: where more than one next token was possible. `at` counts the ids of the reply
    from 0, the first one behind `<|im_start|>assistant\\n`; the `<|im_end|>` at its end is one of them."""


class ToolMessage(Strict):
    role: Literal["tool"]
    content: str


Message = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]


class Conversation(Strict):
    id: str = Field(min_length=1)
    messages: tuple[Message, ...] = Field(min_length=1)


@dataclass(frozen=True)
class EncodedConversation:
    ids: tuple[int, ...]
    loss_mask: tuple[int, ...]
    choices: tuple[Choice, ...] | None = None
    """One for each learnt id, in their order, `at` being its place in `ids`. None: no message has choices."""


def render(messages: Sequence[Message], generation_prompt: bool = False) -> str:
    """The text for people and for the chat template; ids come from `encode`, never from this text."""
    text = "".join(
        f"<|im_start|>{message.role}\n{_body_text(message)}<|im_end|>\n" for message in messages
    )
    return text + ("<|im_start|>assistant\n" if generation_prompt else "")


def encode(
    tokenizer: Tokenizer, messages: Sequence[Message], generation_prompt: bool = False
) -> EncodedConversation:
    """Ids of a conversation. Learnt is what the assistant wrote, its `<|im_end|>` included.

    Where any message has choices, only those of the messages with `train` are learnt. What the set forces
    is never drawn: its probability is 1 whatever the weights are, so it has no gradient, and to learn it
    as ordinary text would move the weights for something that they do not decide. A message without
    choices in such a conversation is taken as forced as a whole: nothing says what else was possible.

    Raises:
        InputError: a choice that does not fit its reply or the vocabulary.
    """
    ids: list[int] = []
    loss_mask: list[int] = []
    choices: list[Choice] = []
    from_sets = any(isinstance(one, AssistantMessage) and one.choices is not None for one in messages)

    def add(part: Sequence[int], learnt: bool = False) -> None:
        ids.extend(part)
        loss_mask.extend([int(learnt)] * len(part))

    newline = encode_text(tokenizer, "\n")
    for index, message in enumerate(messages):
        learnt = isinstance(message, AssistantMessage) and message.train
        add([START_ID, *encode_text(tokenizer, f"{message.role}\n")])
        reply = [*_body_ids(tokenizer, message), END_OF_TURN_ID]
        start = len(ids)
        add(reply, learnt and not from_sets)
        if isinstance(message, AssistantMessage) and message.choices:
            _check_choices(message.choices, reply, index, tokenizer.get_vocab_size())
            if learnt:
                choices += [one.model_copy(update={"at": start + one.at}) for one in message.choices]
        add(newline)
    for choice in choices:
        loss_mask[choice.at] = 1
    if generation_prompt:
        add([START_ID, *encode_text(tokenizer, "assistant\n")])
    return EncodedConversation(
        tuple(ids), tuple(loss_mask), tuple(choices) if from_sets else None
    )


def _check_choices(
    choices: Sequence[Choice], reply: Sequence[int], message: int, vocabulary: int
) -> None:
    before = -1
    for index, choice in enumerate(choices):
        where = f"messages[{message}].choices[{index}].at is {choice.at}"
        if choice.at <= before:
            raise InputError(f"{where}, which does not come behind {before}")
        if choice.at >= len(reply):
            raise InputError(f"{where}, but the reply has {len(reply)} ids, the end of the turn included")
        if reply[choice.at] not in choice.ids:
            raise InputError(
                f"{where}, where the reply has id {reply[choice.at]}, which is not among its ids; "
                "the choices were made from another reply or with another tokenizer"
            )
        if max(choice.ids) >= vocabulary:
            raise InputError(
                f"{where} and it has id {max(choice.ids)}, but the vocabulary has {vocabulary} entries; "
                "the choices were made with another tokenizer"
            )
        before = choice.at


def encode_text(tokenizer: Tokenizer, text: str) -> list[int]:
    """Ids of ordinary text. The spelling of a special token is cut behind its `<` and so stays text."""
    ids: list[int] = []
    start = 0
    for match in _SPELLING.finditer(text):
        ids.extend(tokenizer.encode(text[start : match.start() + 1], add_special_tokens=False).ids)
        start = match.start() + 1
    ids.extend(tokenizer.encode(text[start:], add_special_tokens=False).ids)
    return ids


def value_text(value: JsonValue) -> str:
    """A string as it is; anything else as compact JSON, as `JSON.stringify` writes it."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class ParsedCall:
    name: str
    arguments: tuple[tuple[str, str], ...]
    """Name and text. The tool's schema says whether the text is the string or JSON."""


@dataclass(frozen=True)
class ParsedReply:
    content: str
    calls: tuple[ParsedCall, ...]
    finish: Literal["stop", "length"]


@dataclass(frozen=True)
class MalformedReply:
    reason: str


def parse_reply(tokenizer: Tokenizer, ids: Sequence[int]) -> ParsedReply | MalformedReply:
    """Reads sampled ids, `<|im_end|>` included where it was sampled.

    Special tokens are recognised by id and never by their spelling.
    """
    pieces, finish = _split(tokenizer, ids)
    if isinstance(pieces, MalformedReply):
        return pieces
    content = pieces[0][1]
    if finish == "length" and _inside_call(pieces):
        return MalformedReply("the reply was cut off inside a call")
    calls: list[ParsedCall] = []
    at = 1
    while at < len(pieces):
        call = _parse_call(pieces, at)
        if isinstance(call, MalformedReply):
            return call
        parsed, at = call
        calls.append(parsed)
    return ParsedReply(content, tuple(calls), finish)


Piece = tuple[int, str]
"""A special id (-1 at the start) and the text behind it, up to the next special token."""


def _split(
    tokenizer: Tokenizer, ids: Sequence[int]
) -> tuple[list[Piece] | MalformedReply, Literal["stop", "length"]]:
    finish: Literal["stop", "length"] = "length"
    if ids and ids[-1] == END_OF_TURN_ID:
        ids, finish = ids[:-1], "stop"
    groups: list[tuple[int, list[int]]] = [(-1, [])]
    for token in ids:
        if token in (PADDING_ID, START_ID, END_OF_TURN_ID):
            return MalformedReply(f"{SPECIAL_TOKENS[token]} inside the reply"), finish
        if token < len(SPECIAL_TOKENS):
            groups.append((token, []))
        else:
            groups[-1][1].append(token)
    return [
        (special, tokenizer.decode(text, skip_special_tokens=False)) for special, text in groups
    ], finish


def _inside_call(pieces: Sequence[Piece]) -> bool:
    last = next((tag for tag, _ in reversed(pieces) if tag in (CALL_ID, END_CALL_ID)), END_CALL_ID)
    return last == CALL_ID


def _parse_call(pieces: list[Piece], at: int) -> tuple[ParsedCall, int] | MalformedReply:
    special, name = pieces[at]
    if special != CALL_ID:
        return MalformedReply(f"{SPECIAL_TOKENS[special]} outside a call")
    if name == "":
        return MalformedReply("a call without a name")
    arguments: dict[str, str] = {}
    at += 1
    while at < len(pieces) and pieces[at][0] == ARGUMENT_ID:
        key = pieces[at][1]
        if at + 1 >= len(pieces) or pieces[at + 1][0] != VALUE_ID:
            return MalformedReply(f"argument {key} of {name} without <|value|>")
        if key == "":
            return MalformedReply(f"an argument of {name} without a name")
        if key in arguments:
            return MalformedReply(f"argument {key} of {name} given twice")
        arguments[key] = pieces[at + 1][1]
        at += 2
    if at >= len(pieces) or pieces[at][0] != END_CALL_ID:
        found = "the reply ended" if at >= len(pieces) else f"{SPECIAL_TOKENS[pieces[at][0]]} came"
        return MalformedReply(f"the call of {name} has no <|end_call|>: {found} first")
    if pieces[at][1] != "":
        return MalformedReply(f"text after the call of {name}")
    return ParsedCall(name, tuple(arguments.items())), at + 1


def _body_text(message: Message) -> str:
    if not isinstance(message, AssistantMessage):
        return message.content
    return message.content + "".join(_call_text(call) for call in message.calls)


def _call_text(call: Call) -> str:
    arguments = "".join(
        f"<|arg|>{name}<|value|>{value_text(value)}" for name, value in call.arguments.items()
    )
    return f"<|call|>{call.name}{arguments}<|end_call|>"


def _body_ids(tokenizer: Tokenizer, message: Message) -> list[int]:
    ids = encode_text(tokenizer, message.content)
    if not isinstance(message, AssistantMessage):
        return ids
    for call in message.calls:
        ids += [CALL_ID, *encode_text(tokenizer, call.name)]
        for name, value in call.arguments.items():
            ids += [ARGUMENT_ID, *encode_text(tokenizer, name)]
            ids += [VALUE_ID, *encode_text(tokenizer, value_text(value))]
        ids.append(END_CALL_ID)
    return ids


def _has_fraction(value: JsonValue) -> bool:
    if isinstance(value, float):
        return True
    if isinstance(value, dict):
        return any(_has_fraction(item) for item in value.values())
    return isinstance(value, list) and any(_has_fraction(item) for item in value)


def check_special_tokens(tokenizer: Tokenizer, where: str) -> None:
    """Raises InputError unless each special token has the id that this module gives it."""
    for expected, token in enumerate(SPECIAL_TOKENS):
        if tokenizer.token_to_id(token) != expected:
            raise InputError(
                f"{where}: {token} must have id {expected}, not {tokenizer.token_to_id(token)}; "
                "make the tokenizer with train-tokenizer"
            )
