"""Answers that are not the JSON that was asked for."""

import json

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.safety.policy import rule_of
from heterodyne.safety.settings import GuardSettings
from tests.support.calls import asked, call, calling, checked

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
BLOCKS = GuardSettings(guard="schema", action="block")
SHAPED = asked(response_format={"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}})
ANY_JSON = asked(response_format={"type": "json_object"})


def saying(text: str | None, *, finish: str = "stop", **more: object) -> bytes:
    message = {"role": "assistant", "content": text, **more}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).encode()


@pytest.mark.parametrize(("request_body", "text", "rule"), [
    (SHAPED, '{"city": "Graz"}', None),
    (SHAPED, ' {"city": "Graz", "more": 1}\n', None),
    (SHAPED, '{"city": 1}', "not_of_schema"),
    (SHAPED, '{"city": "Gra', "not_json"),
    (SHAPED, '```json\n{"city": "Graz"}\n```', "not_json"),
    (SHAPED, "", "not_json"),
    (SHAPED, None, "not_json"),
    (SHAPED, "[" * 5000, "not_json"),
    (ANY_JSON, "{}", None),
    (ANY_JSON, "[]", "not_of_schema"),
    (ANY_JSON, "Graz", "not_json"),
    (asked(), "Graz", None),
    (asked(response_format={"type": "text"}), "Graz", None),
    (asked(response_format={"type": "json_schema", "json_schema": 7}), "7", "not_of_schema"),
])  # fmt: skip
def test_an_answer_is_what_its_request_asks_for(request_body: bytes, text: str | None, rule: str | None) -> None:
    rules, choice, verdicts = checked(BLOCKS, request_body, saying(text))
    assert rules == ([] if rule is None else [(rule, "choices[0].message.content")])
    if rule is not None:
        assert choice["finish_reason"] == "content_filter"
        assert not choice["message"]["content"]
        assert (verdicts[0].start, verdicts[0].end) == (0, len(text or ""))


def test_who_refuses_calls_a_tool_or_was_cut_off_is_not_asked_for_json() -> None:
    assert checked(BLOCKS, SHAPED, saying(None, refusal="I will not"))[0] == []
    assert checked(BLOCKS, SHAPED, calling(call("read", {})))[0] == []
    assert checked(BLOCKS, SHAPED, saying("{", finish="content_filter"))[0] == []


def test_a_policy_names_a_schema_for_all_answers_and_its_patterns_count() -> None:
    schema = {"type": "object", "properties": {"city": {"pattern": "^[A-Z]"}}, "additionalProperties": False}
    policy = GuardSettings(guard="schema", action="block", json_schema=json.dumps(schema))
    assert checked(policy, asked(), saying('{"city": "Graz"}'))[0] == []
    for text in ('{"city": "graz"}', '{"town": "Graz"}'):
        assert [rule for rule, _ in checked(policy, SHAPED, saying(text))[0]] == ["not_of_schema"]
    completion = json.dumps({"choices": [{"index": 0, "text": "Graz", "finish_reason": "stop"}]}).encode()
    rules, choice, _ = checked(policy, asked(), completion)
    assert rules == [("not_json", "choices[0].text")]
    assert choice["text"] == ""


def test_a_schema_that_goes_round_in_circles_is_kept_to_by_nobody() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"$ref": "#"}}}
    assert [rule for rule, _ in checked(BLOCKS, asked(response_format=wanted), saying("{}"))[0]] == ["not_of_schema"]


@pytest.mark.parametrize(("schema", "words"), [
    ("{", "no JSON"),
    ("[]", "is no schema"),
    ('{"type": "objekt"}', "is none of"),
    ('{"properties": {"a": {"patern": "x"}}}', "$.properties.a.patern is no keyword"),
    ('{"pattern": "(a+)+x"}', "repeats a repetition"),
    ('{"patternProperties": {"(": {}}}', "no regular expression"),
])  # fmt: skip
def test_a_schema_that_nobody_could_look_after_is_refused(schema: str, words: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        rule_of("one", GuardSettings(guard="schema", json_schema=schema))
    assert words in str(refused.value)
