"""The policy's own byte-level BPE: any text can be written, digits stand alone, tags are one token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from .conversation import (
    SPECIAL_TOKENS,
    AssistantMessage,
    Conversation,
    check_special_tokens,
    value_text,
)
from .strict import InputError

_SMALLEST = len(SPECIAL_TOKENS) + 256


def train_tokenizer(texts: Iterable[str], entries: int) -> Tokenizer:
    """Learns `entries` entries (special tokens and the 256 bytes included) from ordinary texts.

    Line breaks and tabs stand alone, so that a line is cut in the same way wherever it stands, and a
    prompt that ends in a line break is an exact token prefix of the prompt with its reply.

    Raises:
        InputError: `entries` is below the 263 that every text needs, or the texts have too few words.
    """
    if entries < _SMALLEST:
        raise InputError(f"a vocabulary needs at least {_SMALLEST} entries, not {entries}")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"[\n\r\t]"), behavior="isolated"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=entries,
        min_frequency=2,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    if tokenizer.get_vocab_size() < entries:
        raise InputError(
            f"the texts give only {tokenizer.get_vocab_size()} entries, {entries} were asked for: "
            "give more text or ask for fewer"
        )
    check_special_tokens(tokenizer, "the new tokenizer")
    return tokenizer


def texts_of(conversations: Iterable[Conversation]) -> Iterator[str]:
    """What the tokenizer learns from: all that is not a special token."""
    for conversation in conversations:
        for message in conversation.messages:
            yield f"{message.role}\n"
            yield message.content
            if isinstance(message, AssistantMessage):
                for call in message.calls:
                    yield call.name
                    for name, value in call.arguments.items():
                        yield name
                        yield value_text(value)


def as_fast_tokenizer(tokenizer: Tokenizer, context: int) -> PreTrainedTokenizerFast:
    """For transformers, with the chat template. It splits special tokens out of any text that it is
    given: for texts of others use `conversation.encode`."""
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = chat_template()
    return fast


def chat_template() -> str:
    return resources.files(__package__).joinpath("chat_template.jinja").read_text("utf-8")


def load_tokenizer(folder: Path) -> Tokenizer:
    """Raises InputError where the folder holds none, or one of another format."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise InputError(f"{folder} holds no tokenizer (tokenizer.json is missing)")
    tokenizer = Tokenizer.from_file(str(path))
    check_special_tokens(tokenizer, str(path))
    return tokenizer
