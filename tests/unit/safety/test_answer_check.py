"""What guards make of an answer that comes whole."""

import json

from heterodyne.safety.answer_check import check_answer, check_text
from heterodyne.safety.placeholders import NOTHING, Placeholders
from heterodyne.safety.settings import GuardSettings
from tests.support.guards import BLOCKS, EMAIL, MASKS, SECRET, plan


def chat(content: str, **more: object) -> bytes:
    message = {"role": "assistant", "content": content, **more}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": []}}
    return json.dumps({"id": SECRET, "choices": [choice]}).encode()


def test_a_choice_ends_before_what_a_policy_blocks():
    guarded, body = check_answer(plan(BLOCKS).output, NOTHING, chat(f"the key is {SECRET}, use it", tool_calls=[]))
    (choice,) = json.loads(body)["choices"]
    assert choice["message"] == {"role": "assistant", "content": "the key is "}
    assert (choice["finish_reason"], choice["logprobs"]) == ("content_filter", None)
    assert guarded.blocked is None
    assert [one.where for one in guarded.verdicts] == ["choices[0].message.content"]


def test_a_secret_in_a_call_or_in_thoughts_ends_the_choice_too():
    call = {"function": {"name": "f", "arguments": json.dumps({"key": SECRET})}}
    for more in ({"tool_calls": [call]}, {"reasoning_content": SECRET}):
        _, body = check_answer(plan(BLOCKS).output, NOTHING, chat("fine", **more))
        assert SECRET not in str(json.loads(body)["choices"])
        assert json.loads(body)["choices"][0]["message"] == {"role": "assistant", "content": "fine"}


def test_a_completion_is_cut_as_well():
    answer = {"choices": [{"text": f"a {SECRET}", "finish_reason": "stop"}, {"text": "b", "finish_reason": "stop"}]}
    _, body = check_answer(plan(BLOCKS).output, NOTHING, json.dumps(answer).encode())
    choices = json.loads(body)["choices"]
    assert [(one["text"], one["finish_reason"]) for one in choices] == [("a ", "content_filter"), ("b", "stop")]


def test_an_answer_without_choices_is_blocked_as_a_whole():
    guarded, _ = check_answer(plan(BLOCKS).output, NOTHING, json.dumps({"text": SECRET}).encode())
    assert guarded.blocked is not None


def test_what_was_masked_is_put_back_and_what_is_new_is_masked():
    rules = plan(MASKS | BLOCKS).output
    call = {"function": {"name": "f", "arguments": json.dumps({"to": "<EMAIL_1>"})}}
    answer = chat("<EMAIL_1> knows other@example.org", tool_calls=[call])
    _, body = check_answer(rules, Placeholders({"<EMAIL_1>": 'a"b@c.org'}), answer)
    message = json.loads(body)["choices"][0]["message"]
    assert message["content"] == 'a"b@c.org knows <EMAIL_2>'
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"to": 'a"b@c.org'}


def test_what_stands_before_a_cut_is_masked():
    _, body = check_answer(plan(MASKS | BLOCKS).output, NOTHING, chat(f"ask {EMAIL} for {SECRET}"))
    assert json.loads(body)["choices"][0]["message"]["content"] == "ask <EMAIL_1> for "


def test_a_flag_changes_nothing():
    rules = plan({"watch": GuardSettings(guard="secrets")}).output
    answer = chat(SECRET)
    guarded, body = check_answer(rules, NOTHING, answer)
    assert body is answer
    assert [one.action for one in guarded.verdicts] == ["flag"]


def test_subtitles_are_masked_and_blocked():
    assert check_text(plan(MASKS).output, NOTHING, f"00:01 --> 00:02\n{EMAIL}")[1].endswith("<EMAIL_1>")
    assert check_text(plan(BLOCKS).output, NOTHING, SECRET)[0].blocked is not None
