"""What a body asks of the emulator."""

import msgspec
import pytest

from heterodyne.domain.errors import InvalidField, MalformedJson
from heterodyne.emulator import tokenizer
from heterodyne.emulator.request_body import EmulatorRequest, chat_prompt, completion_prompts, read_body, wanted_tokens


def chat(*messages: dict[str, object], **fields: object) -> EmulatorRequest:
    return read_body(msgspec.json.encode({"model": "m", "messages": messages, **fields}))


USER = {"role": "user", "content": "why is the sky blue?"}


def test_the_next_turn_begins_with_this_prompt_and_its_answer() -> None:
    first = chat_prompt(chat(USER))
    answer = b"".join(tokenizer.answer(first.key, 0, 10))
    follow_up = chat_prompt(chat(USER, {"role": "assistant", "content": answer.decode()}, USER))
    assert follow_up.text.startswith(first.text + answer)


def test_a_continued_answer_is_the_one_that_was_begun() -> None:
    whole = chat_prompt(chat(USER))
    begun = b"".join(tokenizer.answer(whole.key, 0, 7)).decode()
    rest = chat_prompt(chat(USER, {"role": "assistant", "content": begun}, continue_final_message=True))
    assert (rest.key, rest.continued_tokens) == (whole.key, 7)


def test_parts_of_a_message_are_one_text() -> None:
    parts = {
        "role": "user",
        "content": [{"type": "text", "text": "why is "}, {"type": "text", "text": "the sky blue?"}],
    }
    assert chat_prompt(chat(parts)).text == chat_prompt(chat(USER)).text


@pytest.mark.parametrize(
    ("prompt", "tokens"), [("abcdefgh", [2]), (["abcd", "abcdefgh"], [1, 2]), ([5, 6, 7], [3]), ([[5], [6, 7]], [1, 2])]
)
def test_prompts_come_as_text_and_as_token_ids(prompt: object, tokens: list[int]) -> None:
    body = read_body(msgspec.json.encode({"model": "m", "prompt": prompt}))
    assert [tokenizer.count(question.text) for question in completion_prompts(body)] == tokens


def test_a_limit_cuts_and_ignoring_the_end_fills_it() -> None:
    body, question = chat(USER, max_tokens=5), chat_prompt(chat(USER))
    assert wanted_tokens(body, question, mean=100, room=1000) == (5, True)
    body = chat(USER, max_tokens=500, ignore_eos=True)
    assert wanted_tokens(body, question, mean=100, room=1000) == (500, True)
    tokens, is_cut = wanted_tokens(chat(USER), question, mean=100, room=1000)
    assert 50 <= tokens <= 150
    assert not is_cut


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(MalformedJson):
        read_body(b"{")
    with pytest.raises(InvalidField, match="max_tokens"):
        read_body(b'{"model": "m", "max_tokens": 0}')
    with pytest.raises(InvalidField, match="prompt"):
        completion_prompts(read_body(b'{"model": "m", "prompt": ["a", 1]}'))
    with pytest.raises(InvalidField, match="messages"):
        chat_prompt(read_body(b'{"model": "m", "messages": []}'))
