"""Equal words are the same answer; about others a judge is asked, whose word is taken only where it is one."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.caching.semantic.same_answer import judge_messages, says_the_same, try_judgement
from heterodyne.testing.behaviours import chat_answer


def answer(text: str | None = "Yes, at noon.", **message: object) -> bytes:
    whole = chat_answer()
    whole["choices"][0]["message"] = {"role": "assistant", "content": text, **message}  # type: ignore[index]
    return msgspec.json.encode(whole)


def call(arguments: str) -> list[dict[str, object]]:
    return [{"id": arguments, "type": "function", "function": {"name": "f", "arguments": arguments}}]


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (answer(), answer(" yes,  at\nNoon. "), True),
        (answer(), answer("Yes, at one."), False),
        (answer(None, tool_calls=call("{}")), answer(None, tool_calls=call("{}")), True),
        (answer(None, tool_calls=call("{}")), answer(None, tool_calls=call('{"a":1}')), False),
        (answer(), answer(tool_calls=call("{}")), False),
    ],
)
def test_words_and_calls_have_to_be_equal(first: bytes, second: bytes, is_same: bool) -> None:
    assert says_the_same(first, second) is is_same


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("yes", True),
        ("Yes.", True),
        (" **YES**", True),
        ("No", False),
        ("no, because", False),
        ("maybe", None),
        ("", None),
    ],
)
def test_a_judge_says_yes_or_no(word: str, expected: bool | None) -> None:
    assert try_judgement(answer(word)) is expected


@given(st.binary(max_size=60) | st.sampled_from([b"{}", b"[]", b'{"choices":[]}', b'{"choices":[{"message":null}]}']))
def test_whatever_a_judge_sends_is_a_judgement_or_none(body: bytes) -> None:
    assert try_judgement(body) is None


def test_a_judge_sees_the_question_and_both_answers_up_to_a_length() -> None:
    asked = judge_messages("when?" * 2000, answer(), answer(None, tool_calls=call("{}")))
    text = asked[-1]["content"]
    assert "Yes, at noon." in text
    assert '"arguments":"{}"' in text
    assert len(text) < 13_000
