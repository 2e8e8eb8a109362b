from __future__ import annotations

import json
import random

import pytest
from prime_learner.conversation import (
    CALL_ID,
    END_OF_TURN_ID,
    SPECIAL_TOKENS,
    START_ID,
    AssistantMessage,
    Call,
    Conversation,
    ParsedReply,
    UserMessage,
    encode,
    encode_text,
    parse_reply,
    render,
    value_text,
)
from prime_learner.rows import Choice, TrainingRow
from prime_learner.strict import InputError, parse_json
from prime_learner.tokenizer import as_fast_tokenizer, chat_template, texts_of, train_tokenizer
from tests.demonstrations import demonstration, demonstrations
from tests.make_fixtures import ENTRIES, FOLDER, TOKENIZER, conversations, fixture_tokenizer, format_text
from tests.reply_sets import drawn_from, reply_ids
from tokenizers import Tokenizer
from transformers import AutoTokenizer

FIXTURE = json.loads((FOLDER / "format.json").read_text("utf-8"))
ALPHABET = [*"ab \n\t\r01<|>é漢👩", *SPECIAL_TOKENS, "<|im_", "end|>", "  "]


def _text(chosen: random.Random) -> str:
    return "".join(chosen.choices(ALPHABET, k=chosen.randrange(12)))


def test_the_golden_files_are_what_the_code_makes() -> None:
    assert (FOLDER / "format.json").read_text("utf-8") == format_text(), (
        "the format changed: python -m tests.make_fixtures, and change the TypeScript side with it"
    )


def test_training_a_tokenizer_gives_the_same_every_time() -> None:
    committed = json.loads((TOKENIZER / "tokenizer.json").read_text("utf-8"))
    fresh = as_fast_tokenizer(fixture_tokenizer(), 4096).backend_tokenizer
    assert json.loads(fresh.to_str()) == committed


def test_any_text_survives(tokenizer: Tokenizer) -> None:
    chosen = random.Random(5)
    for _ in range(500):
        text = _text(chosen)
        ids = encode_text(tokenizer, text)
        assert all(token >= len(SPECIAL_TOKENS) for token in ids), text
        assert tokenizer.decode(ids, skip_special_tokens=False) == text


def test_any_call_comes_back_as_it_was_written(tokenizer: Tokenizer) -> None:
    chosen = random.Random(6)
    for _ in range(300):
        calls = tuple(
            Call(
                name=_text(chosen) or "x",
                arguments={_text(chosen) or "k": _text(chosen) for _ in range(chosen.randrange(3))},
            )
            for _ in range(chosen.randrange(3))
        )
        message = AssistantMessage(role="assistant", content=_text(chosen), calls=calls)
        encoded = encode(tokenizer, [message])
        sampled = [
            token for token, learnt in zip(encoded.ids, encoded.loss_mask, strict=True) if learnt
        ]
        assert sampled[-1] == END_OF_TURN_ID
        reply = parse_reply(tokenizer, sampled)
        assert isinstance(reply, ParsedReply)
        assert reply.content == message.content
        assert [(call.name, dict(call.arguments)) for call in reply.calls] == [
            (call.name, call.arguments) for call in calls
        ]


def test_a_prompt_is_a_token_prefix_of_what_follows(tokenizer: Tokenizer) -> None:
    for messages in (demonstration(1).messages, *(case[0] for case in conversations().values())):
        whole = encode(tokenizer, messages).ids
        for end, message in enumerate(messages):
            if isinstance(message, AssistantMessage):
                prompt = encode(tokenizer, messages[:end], generation_prompt=True).ids
                assert whole[: len(prompt)] == prompt


def test_only_what_the_assistant_writes_is_learnt_and_its_stop_token_with_it(
    tokenizer: Tokenizer,
) -> None:
    conversation = demonstration(3, recovery=True)
    encoded = encode(tokenizer, conversation.messages)
    learnt = tokenizer.decode(
        [token for token, one in zip(encoded.ids, encoded.loss_mask, strict=True) if one],
        skip_special_tokens=False,
    )
    expected = "".join(
        render([message]).removeprefix("<|im_start|>assistant\n").removesuffix("\n")
        for message in conversation.messages
        if isinstance(message, AssistantMessage) and message.train
    )
    assert learnt == expected
    wrong = [m for m in conversation.messages if isinstance(m, AssistantMessage) and not m.train]
    assert len(wrong) == 1


def _set(*names: str) -> list[AssistantMessage]:
    return [
        AssistantMessage(role="assistant", content="", calls=(Call(name=name, arguments={}),))
        for name in names
    ]


def test_of_a_reply_from_a_set_only_what_was_drawn_is_learnt(tokenizer: Tokenizer) -> None:
    ask = UserMessage(role="user", content="Go.")
    names = ("submit", "run_tests", "run_bash", "undo")
    first = drawn_from(tokenizer, _set(*names), [1, 1, 1, 1], 1)
    forced = drawn_from(tokenizer, _set("submit"), [1], 0)
    wrong = drawn_from(tokenizer, _set(*names), [1, 1, 1, 1], 2).model_copy(update={"train": False})
    last = drawn_from(tokenizer, _set(*names), [1, 2, 3, 4], 3)
    plain = _set("submit")[0]
    messages = [ask, first, ask, forced, ask, wrong, ask, plain, ask, last]
    encoded = encode(tokenizer, messages)
    unmarked = [
        one.model_copy(update={"choices": None}) if isinstance(one, AssistantMessage) else one
        for one in messages
    ]
    usual = encode(tokenizer, unmarked)
    assert encoded.ids == usual.ids
    assert usual.choices is None
    assert encoded.choices is not None
    assert first.choices is not None
    assert last.choices is not None
    assert forced.choices == ()
    assert len(encoded.choices) == len(first.choices) + len(last.choices)
    assert {choice.at for choice in encoded.choices} == {
        at for at, learnt in enumerate(encoded.loss_mask) if learnt
    }
    # What a row wants holds, and where the reply begins is where its prompt ends.
    TrainingRow(
        id="a", ids=encoded.ids, loss_mask=encoded.loss_mask, choices=encoded.choices
    )
    for message, index, part in ((first, 1, encoded.choices[: len(first.choices)]),
                                 (last, 9, encoded.choices[len(first.choices) :])):
        start = len(encode(tokenizer, messages[:index], generation_prompt=True).ids)
        assert message.choices is not None
        assert [choice.at - start for choice in part] == [choice.at for choice in message.choices]
        assert [(choice.ids, choice.bias) for choice in part] == [
            (choice.ids, choice.bias) for choice in message.choices
        ]


def test_the_end_of_a_turn_can_be_drawn(tokenizer: Tokenizer) -> None:
    replies = [
        AssistantMessage(role="assistant", content="So."),
        AssistantMessage(role="assistant", content="So.", calls=(Call(name="a", arguments={}),)),
    ]
    encoded = encode(tokenizer, [drawn_from(tokenizer, replies, [1, 1], 0)])
    assert encoded.choices is not None
    (choice,) = encoded.choices
    assert encoded.ids[choice.at] == END_OF_TURN_ID
    assert choice.ids == (END_OF_TURN_ID, CALL_ID)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ([(4, (CALL_ID, 9))], "messages[1].choices[0].at is 4, but the reply has 4 ids, the end of the turn included"),
        ([(0, (CALL_ID, 9)), (0, (CALL_ID, 9))], "messages[1].choices[1].at is 0, which does not come behind 0"),
        ([(0, (8, 9))], "messages[1].choices[0].at is 0, where the reply has id 3, which is not among its ids"),
        ([(0, (CALL_ID, ENTRIES))], "messages[1].choices[0].at is 0 and it has id 400, but the vocabulary has 400"),
    ],
)
def test_refuses_choices_that_do_not_fit_the_reply(
    tokenizer: Tokenizer, choices: list[tuple[int, tuple[int, ...]]], message: str
) -> None:
    reply = AssistantMessage(
        role="assistant",
        content="",
        calls=(Call(name="a", arguments={}),),
        train=False,
        choices=tuple(Choice(at=at, ids=ids, bias=(0.0, 0.0)) for at, ids in choices),
    )
    assert len(reply_ids(tokenizer, reply.model_copy(update={"choices": None}))) == 4
    with pytest.raises(InputError) as caught:
        encode(tokenizer, [UserMessage(role="user", content="Go."), reply])
    assert str(caught.value).startswith(message)


def test_text_of_others_cannot_end_a_turn(tokenizer: Tokenizer) -> None:
    case = next(c for c in FIXTURE["conversations"] if c["name"] == "special tokens as text of others")
    assert case["ids"].count(START_ID) == 3
    assert case["ids"].count(END_OF_TURN_ID) == 3
    assert case["ids"].count(CALL_ID) == 1


def test_digits_tabs_and_line_breaks_stand_alone(tokenizer: Tokenizer) -> None:
    tokens = [tokenizer.id_to_token(token) for token in encode_text(tokenizer, "12\n\n\t\t3")]
    assert tokens == ["1", "2", "Ċ", "Ċ", "ĉ", "ĉ", "3"]


def test_the_chat_template_says_the_same_as_the_code(tokenizer: Tokenizer) -> None:
    fast = AutoTokenizer.from_pretrained(TOKENIZER)
    assert fast.chat_template == chat_template()
    for name, (messages, generation_prompt) in conversations().items():
        plain = [message.model_dump(mode="json") for message in messages]
        text = fast.apply_chat_template(
            plain, tokenize=False, add_generation_prompt=generation_prompt
        )
        assert text == render(messages, generation_prompt), name
        if name != "special tokens as text of others":
            ids = fast.apply_chat_template(
                plain, add_generation_prompt=generation_prompt, return_dict=False
            )
            assert tuple(ids) == encode(tokenizer, messages, generation_prompt).ids, name


def test_saved_and_loaded_by_transformers(tokenizer: Tokenizer) -> None:
    fast = AutoTokenizer.from_pretrained(TOKENIZER)
    assert len(fast) == ENTRIES
    assert fast.eos_token_id == END_OF_TURN_ID
    assert fast.pad_token_id == 0
    text = "  Zażółć <tag>\n\t12 , . x"
    assert fast(text).input_ids == encode_text(tokenizer, text)
    assert fast.decode(fast(text).input_ids) == text
    assert as_fast_tokenizer(tokenizer, 4096).get_vocab() == fast.get_vocab()


def test_values_are_written_as_json_stringify_does() -> None:
    assert value_text("[1]") == "[1]"
    assert value_text([1, "ü", True, None, {"a": "\n"}]) == '[1,"ü",true,null,{"a":"\\n"}]'


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([{"role": "robot", "content": ""}], "Input tag 'robot' found"),
        ([{"role": "user", "content": "", "name": "x"}], "messages[0].user.name: unknown option"),
        ([], "messages: Tuple should have at least 1"),
        (
            [{"role": "assistant", "content": "", "calls": [{"name": "a", "arguments": {"n": [1.0]}}]}],
            "argument n of a: numbers must be whole",
        ),
    ],
)
def test_refuses_messages_that_are_not_of_the_format(messages: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(Conversation, json.dumps({"id": "a", "messages": messages}), "here")
    assert message in str(caught.value)


def test_says_when_the_texts_are_too_few_for_the_vocabulary() -> None:
    with pytest.raises(InputError, match=r"the texts give only \d+ entries, 5000 were asked for"):
        train_tokenizer(texts_of(demonstrations(3)), 5000)
    with pytest.raises(InputError, match="a vocabulary needs at least 263 entries, not 262"):
        train_tokenizer([], 262)
