"""Prompts and answers that are too long."""

import json

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.safety.answer_check import check_answer, check_text
from heterodyne.safety.guarded import Guarded
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.policy import rule_of
from heterodyne.safety.request_check import check_request
from heterodyne.safety.settings import GuardSettings
from tests.support.calls import asked, call, calling, checked
from tests.support.guards import plan


def look(body: bytes, **bounds: int) -> Guarded:
    return check_request(plan({"one": GuardSettings(guard="length", action="block", **bounds)}).input, body)[0]


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def test_characters_of_a_prompt_are_counted_wherever_they_stand() -> None:
    body = asked(user("abc"), user("defg"), tools=[{"function": {"name": "f", "description": "hij"}}])
    assert look(body, prompt_chars_max=11).blocked is None
    blocked = look(body, prompt_chars_max=10).blocked
    assert blocked is not None
    assert (blocked.rule, blocked.where) == ("prompt_too_long", "tools[0].function.description")


def test_tokens_are_a_quarter_of_the_bytes_or_counted() -> None:
    assert look(asked(user("x" * 39)), prompt_tokens_max=10).blocked is None
    assert look(asked(user("ü" * 23)), prompt_tokens_max=10).blocked is not None
    ids = json.dumps({"model": "m", "prompt": [[1, 2, 3], [4, 5, 6]]}).encode()
    assert look(ids, prompt_tokens_max=6).blocked is None
    assert look(ids, prompt_tokens_max=5).blocked is not None
    assert look(ids, prompt_chars_max=5).blocked is not None


def test_messages_are_counted() -> None:
    assert look(asked(user("a"), user("b")), messages_max=2).blocked is None
    blocked = look(asked(user("a"), user("b"), user("c")), messages_max=2).blocked
    assert blocked is not None
    assert (blocked.rule, blocked.where) == ("too_many_messages", "messages[2]")


def test_an_answer_ends_at_its_bound() -> None:
    policy = GuardSettings(guard="length", action="block", answer_chars_max=5)
    assert checked(policy, asked(), calling(content="12345"))[0] == []
    rules, choice, (verdict,) = checked(policy, asked(), calling(call("f", {}), content="1234567"))
    assert rules == [("answer_too_long", "choices[0].message.content")]
    assert choice["message"] == {"role": "assistant", "content": "12345"}
    assert (choice["finish_reason"], verdict.start, verdict.end) == ("content_filter", 5, 7)
    thoughts = {"role": "assistant", "content": "12", "reasoning_content": "3456"}
    answer = json.dumps({"choices": [{"index": 0, "message": thoughts, "finish_reason": "stop"}]}).encode()
    assert checked(policy, asked(), answer)[1]["message"] == {"role": "assistant", "content": "12"}


def test_an_answer_without_choices_is_blocked_as_a_whole() -> None:
    rules = plan({"one": GuardSettings(guard="length", action="block", answer_chars_max=5)}).output
    assert check_answer(rules, NOTHING, b'{"text": "12345"}')[0].blocked is None
    assert check_answer(rules, NOTHING, b'{"text": "123456"}')[0].blocked is not None
    assert check_text(rules, NOTHING, "123456")[0].blocked is not None
    flags = plan({"one": GuardSettings(guard="length", answer_chars_max=5)}).output
    assert [one.rule for one in check_text(flags, NOTHING, "123456")[0].verdicts] == ["answer_too_long"]


def test_who_bounds_prompts_alone_looks_at_no_answer() -> None:
    prompts = plan({"one": GuardSettings(guard="length", messages_max=1)})
    assert (len(prompts.input), len(prompts.output)) == (1, 0)
    answers = plan({"one": GuardSettings(guard="length", answer_chars_max=1)})
    assert (len(answers.input), len(answers.output)) == (0, 1)


def test_a_policy_without_bounds_is_refused() -> None:
    with pytest.raises(InvalidSpec, match="answer_chars_max"):
        rule_of("one", GuardSettings(guard="length"))
