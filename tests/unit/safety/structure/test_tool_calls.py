"""Calls that are malformed, or that an operator does not want."""

import json
from typing import Any

import pytest

from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.safety.policy import rule_of
from heterodyne.safety.request_check import check_request
from heterodyne.safety.settings import GuardSettings
from tests.support.calls import READ, asked, call, calling, checked
from tests.support.guards import plan

BLOCKS = GuardSettings(guard="tool_calls", action="block")
ARGUMENTS = "choices[0].message.tool_calls[0].function.arguments"
NAME = "choices[0].message.tool_calls[0].function.name"
OFFER = asked(tools=[READ])


def found(policy: GuardSettings, answer: bytes, request: bytes = OFFER) -> list[tuple[str, str]]:
    return checked(policy, request, answer)[0]


def test_a_call_that_keeps_to_its_tool_passes_as_it_is() -> None:
    rules, choice, _ = checked(BLOCKS, OFFER, calling(call("read", {"path": "a"}), content="reading"))
    assert rules == []
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "read"


@pytest.mark.parametrize(("name", "arguments", "rule", "where"), [
    ("read", '{"path": ', "arguments_not_json", ARGUMENTS),
    ("read", {}, "arguments_not_of_schema", ARGUMENTS),
    ("read", {"path": 7}, "arguments_not_of_schema", ARGUMENTS),
    ("read", [1], "arguments_not_of_schema", ARGUMENTS),
    ("write", {"path": "a"}, "unknown_tool", NAME),
    ("", {"path": "a"}, "unknown_tool", NAME),
    ("read", {"path": "a" * 70_000}, "arguments_too_long", ARGUMENTS),
])  # fmt: skip
def test_a_malformed_call_ends_its_choice(name: str, arguments: object, rule: str, where: str) -> None:
    rules, choice, verdicts = checked(BLOCKS, OFFER, calling(call(name, arguments), content="reading"))
    assert rules == [(rule, where)]
    assert choice["message"] == {"role": "assistant", "content": "reading"}
    assert choice["finish_reason"] == "content_filter"
    (verdict,) = verdicts
    assert (verdict.policy, verdict.guard, verdict.version, verdict.action) == ("one", "tool_calls", "1", "block")
    assert verdict.end >= verdict.start
    assert verdict.score == 1.0


def test_what_is_flagged_stays() -> None:
    rules, choice, _ = checked(GuardSettings(guard="tool_calls"), OFFER, calling(call("write", "{")))
    assert [rule for rule, _ in rules] == ["unknown_tool", "arguments_not_json"]
    assert choice["message"]["tool_calls"]


@pytest.mark.parametrize("request_body", [asked(), asked(tools=[READ], tool_choice="none")])
def test_whoever_offers_no_tool_gets_no_call(request_body: bytes) -> None:
    assert found(BLOCKS, calling(call("read", {"path": "a"})), request_body) == [("unknown_tool", NAME)]


def test_older_clients_and_tools_that_take_any_text_are_looked_at_too() -> None:
    request = asked(functions=[READ["function"]], tools=[{"type": "custom", "custom": {"name": "shell"}}])
    policy = GuardSettings(guard="tool_calls", action="block", arguments_denied=("rm -rf",))
    said = {"id": "1", "type": "custom", "custom": {"name": "shell", "input": "rm -rf x"}}
    where = "choices[0].message.tool_calls[0].custom.input"
    assert found(policy, calling(said), request) == [("denied_argument", where)]
    assert found(policy, calling({**said, "custom": {"name": "shell", "input": "{ls"}}), request) == []
    message = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}}
    answer = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "function_call"}]}).encode()
    assert found(policy, answer, request) == [("arguments_not_of_schema", "choices[0].message.function_call.arguments")]


def test_arguments_that_are_no_text_are_looked_at_as_they_are() -> None:
    said = {"id": "1", "type": "function", "function": {"name": "read", "arguments": {"path": "/etc/passwd"}}}
    policy = GuardSettings(guard="tool_calls", action="block", roots_allowed=("/work",))
    assert found(policy, calling(said)) == [("path_outside", ARGUMENTS)]


@pytest.mark.parametrize(("settings", "arguments", "rule"), [
    ({"arguments_denied": ("(?i)drop table",)}, {"path": "x; DROP TABLE y"}, "denied_argument"),
    ({"arguments_denied": ("rm -rf",)}, {"path": "a", "argv": ["rm", "-rf", "x"]}, "denied_argument"),
    ({"arguments_denied": ("rm -rf",)}, '{"path": "\\u0072m -rf x"}', "denied_argument"),
    ({"arguments_denied": ("secret",)}, {"path": "a", "more": [{"secret": 1}]}, "denied_argument"),
    ({"arguments_denied": ("rm -rf",)}, '{"path": "rm -rf x', "denied_argument"),
    ({"roots_allowed": ("/work",)}, {"path": "/etc/passwd"}, "path_outside"),
    ({"hosts_allowed": ("*.example.com",)}, {"path": "https://example.org"}, "other_host"),
])  # fmt: skip
def test_what_an_operator_denies(settings: dict[str, Any], arguments: object, rule: str) -> None:
    policy = GuardSettings(guard="tool_calls", action="block", kinds=(rule,), **settings)
    answer = calling(call("read", arguments))
    assert found(policy, answer) == [(rule, ARGUMENTS)]
    narrow = GuardSettings(guard="tool_calls", action="block", kinds=(rule,), tools=("sh*",), **settings)
    assert found(narrow, answer) == []


def test_tools_are_denied_by_name_in_any_case() -> None:
    policy = GuardSettings(guard="tool_calls", action="block", kinds=("denied_tool",), tools_denied=("Delete_*",))
    assert found(policy, calling(call("delete_account", {}))) == [("denied_tool", NAME)]
    assert found(policy, calling(call("undelete_account", {}))) == []


def test_calls_are_counted() -> None:
    policy = GuardSettings(guard="tool_calls", action="block", calls_max=2)
    calls = [call("read", {"path": "a"})] * 4
    assert found(policy, calling(*calls[:2])) == []
    assert found(policy, calling(*calls)) == [("too_many_calls", "choices[0].message.tool_calls[2]")]


def said(policy: GuardSettings, *messages: dict[str, Any]) -> list[tuple[str, str]]:
    guarded, _ = check_request(plan({"one": policy}).input, asked(*messages, tools=[READ]))
    return [(one.rule, one.where) for one in guarded.verdicts]


def test_results_need_a_call_and_calls_of_the_past_keep_to_the_rules() -> None:
    policy = GuardSettings(guard="tool_calls", action="block", tools_denied=("drop",))
    user = {"role": "user", "content": "hello"}
    made = {"role": "assistant", "content": None, "tool_calls": [call("gone", {"a": 1}, id="1")]}
    result = {"role": "tool", "tool_call_id": "1", "content": "x"}
    assert said(policy, user, made, result) == []
    assert said(policy, user, result, made) == [("result_without_call", "messages[1].tool_call_id")]
    older = {"role": "function", "name": "read", "content": "x"}
    assert said(policy, user, older) == [("result_without_call", "messages[1].name")]
    broken = {"role": "assistant", "tool_calls": [call("drop", "{", id="1")]}
    where = "messages[1].tool_calls[0].function"
    assert said(policy, user, broken) == [
        ("denied_tool", f"{where}.name"),
        ("arguments_not_json", f"{where}.arguments"),
    ]
    answers_alone = GuardSettings(guard="tool_calls", action="block", direction="output")
    assert said(answers_alone, user, result) == []


def test_without_its_request_an_answer_is_held_against_the_operators_rules_alone() -> None:
    from heterodyne.safety.answer_check import check_answer
    from heterodyne.safety.placeholders import NOTHING

    policy = GuardSettings(guard="tool_calls", action="block", tools_denied=("drop",))
    rules = plan({"one": policy}).output
    assert check_answer(rules, NOTHING, calling(call("any", {})))[0].verdicts == ()
    assert [one.rule for one in check_answer(rules, NOTHING, calling(call("drop", {})))[0].verdicts] == ["denied_tool"]


@pytest.mark.parametrize(("settings", "error", "words"), [
    ({"kinds": ("denied_tol",)}, UnknownName, 'did you mean "denied_tool"'),
    ({"arguments_denied": ("(",)}, InvalidSpec, "no regular expression"),
    ({"arguments_denied": ("(a+)+x",)}, InvalidSpec, "repeats a repetition"),
])  # fmt: skip
def test_policies_that_say_nothing(settings: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        rule_of("one", GuardSettings(guard="tool_calls", **settings))
