"""Replies drawn from a set, the slow way: what the sampler does, token by token, for tests only."""

from __future__ import annotations

import math
from collections.abc import Sequence

from prime_learner.conversation import AssistantMessage, encode, encode_text
from prime_learner.rows import Choice
from tokenizers import Tokenizer


def choices_of(
    replies: Sequence[Sequence[int]], weights: Sequence[float], drawn: int
) -> tuple[Choice, ...]:
    """What could have come while `replies[drawn]` was drawn. No reply is the beginning of another."""
    choices: list[Choice] = []
    left = list(range(len(replies)))
    for at, token in enumerate(replies[drawn]):
        below: dict[int, float] = {}
        for index in left:
            next_token = replies[index][at]
            below[next_token] = below.get(next_token, 0.0) + weights[index]
        if len(below) > 1:
            whole = math.fsum(below.values())
            # Rounded: the fixtures hold them, and logarithms differ in the last bit between machines.
            bias = tuple(round(math.log(weight / whole), 9) for weight in below.values())
            choices.append(Choice(at=at, ids=tuple(below), bias=bias))
        left = [index for index in left if replies[index][at] == token]
    return tuple(choices)


def reply_ids(tokenizer: Tokenizer, message: AssistantMessage) -> tuple[int, ...]:
    """As sampled: without what the prompt ends in, and with the end of the turn."""
    prompt = 1 + len(encode_text(tokenizer, "assistant\n"))
    return encode(tokenizer, [message]).ids[prompt:-1]


def drawn_from(
    tokenizer: Tokenizer, replies: Sequence[AssistantMessage], weights: Sequence[float], drawn: int
) -> AssistantMessage:
    """The drawn message with its choices."""
    plain = [message.model_copy(update={"choices": None}) for message in replies]
    choices = choices_of([reply_ids(tokenizer, message) for message in plain], weights, drawn)
    return plain[drawn].model_copy(update={"choices": choices})
