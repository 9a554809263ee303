"""What guards make of a stream: nothing leaves that a policy would take back."""

import json
from typing import Any

import pytest

from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.placeholders import NOTHING, Masker, Placeholders
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.stream_check import StreamCheck
from heterodyne.safety.streamed_text import StreamedText
from heterodyne.safety.window import FINDINGS_MAX
from tests.support.guards import BLOCKS, MASKS, SECRET, all_of, plan


def event(index: int = 0, finish: str | None = None, **delta: Any) -> bytes:
    return json.dumps({"id": "c", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}).encode()


class Stream:
    def __init__(self, policies: dict[str, GuardSettings], placeholders: Placeholders = NOTHING, **more: Any) -> None:
        self.verdicts: list[GuardVerdict] = []
        rules = plan(policies).output if policies else ()
        self.check = StreamCheck(rules, placeholders, self.verdicts.append, **more)
        self.sent: list[dict[str, Any]] = []

    def feed(self, *events: bytes) -> "Stream":
        for data in events:
            self.sent += [json.loads(one) for one in all_of(self.check, data) if one != b"[DONE]"]
        return self

    def said(self, name: str = "content", index: int = 0) -> str:
        return "".join(
            choice["delta"].get(name) or ""
            for one in self.sent
            for choice in one["choices"]
            if choice["index"] == index
        )

    @property
    def finishes(self) -> list[str]:
        return [choice["finish_reason"] for one in self.sent for choice in one["choices"] if choice["finish_reason"]]


def test_plain_words_leave_as_they_come():
    stream = Stream(BLOCKS | MASKS)
    stream.feed(event(role="assistant"), event(content="the answer "))
    assert stream.said() == "the answer"
    stream.feed(event(content="is below"), event(finish="stop"))
    assert stream.said() == "the answer is below"
    assert stream.finishes == ["stop"]


def test_a_stream_ends_before_a_secret_in_pieces():
    stream = Stream(BLOCKS)
    stream.feed(*(event(content=one) for one in f"take {SECRET} and go on with it for a while"))
    assert stream.said() == "take "
    assert stream.finishes == ["content_filter"]
    assert stream.check.is_over
    assert stream.check(event(content="more")) == ()
    (verdict,) = stream.verdicts
    assert (verdict.where, verdict.start, verdict.end) == ("choices[0].content", 5, 5 + len(SECRET))


def test_a_secret_at_the_very_end_is_caught_when_the_choice_ends():
    stream = Stream(BLOCKS).feed(event(content=f"take {SECRET}"), event(finish="stop"))
    assert stream.said() == "take "
    assert stream.finishes == ["content_filter"]


def test_a_stream_that_says_no_reason_is_looked_at_when_it_is_done():
    stream = Stream(BLOCKS).feed(event(content=f"take {SECRET}"), b"[DONE]")
    assert (stream.said(), stream.finishes) == ("take ", ["content_filter"])


def test_a_long_token_is_waited_for():
    head = "eyJ" + "hbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9" * 30
    token = f"{head}.{head}.{'sig0' * 60}"
    stream = Stream(BLOCKS).feed(*(event(content=token[at : at + 7]) for at in range(0, len(token), 7)))
    assert stream.said() == ""
    stream.feed(event(content=" and so on"), event(finish="stop"))
    assert (stream.said(), stream.finishes) == ("", ["content_filter"])


def test_a_private_key_is_cut_at_its_first_character():
    label = "RSA PRIVATE " + "KEY"
    text = f"here: -----BEGIN {label}-----\n" + "MIIEpAIBAAKCAQEA7bq\n" * 30 + f"-----END {label}-----"
    stream = Stream(BLOCKS).feed(*(event(content=text[at : at + 3]) for at in range(0, len(text), 3)))
    stream.feed(event(finish="stop"))
    assert "here: ".startswith(stream.said())
    assert stream.finishes == ["content_filter"]


def test_other_choices_go_on_when_one_is_cut():
    stream = Stream(BLOCKS, choices=2)
    stream.feed(event(0, content=f"{SECRET} x "), event(1, content="fine "), event(0, finish="stop"))
    assert not stream.check.is_over
    stream.feed(event(1, finish="stop"))
    assert (stream.said(index=0), stream.said(index=1)) == ("", "fine ")
    assert sorted(stream.finishes) == ["content_filter", "stop"]


def test_arguments_of_calls_are_looked_at():
    def call(text: str) -> bytes:
        return event(tool_calls=[{"index": 0, "function": {"arguments": text}}])

    first = event(tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "send", "arguments": ""}}])
    stream = Stream(BLOCKS).feed(first, call('{"key": "'), call(SECRET[:10]), call(SECRET[10:] + '"}'))
    stream.feed(event(finish="tool_calls"))
    assert stream.sent[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] == "send"
    assert SECRET[:8] not in json.dumps(stream.sent)
    assert stream.finishes == ["content_filter"]


def test_nothing_that_stands_behind_a_cut_is_said():
    calls = [{"index": 0, "function": {"arguments": f'"{SECRET}" and many words behind'}}]
    calls.append({"index": 1, "function": {"arguments": "another call"}})
    stream = Stream(BLOCKS).feed(event(tool_calls=calls, content="and words"), event(content="more"))
    assert "another" not in json.dumps(stream.sent)
    assert "words" not in json.dumps(stream.sent)
    assert stream.finishes == ["content_filter"]


def test_what_was_masked_is_put_back_in_words_and_in_arguments():
    placeholders = Placeholders({"<EMAIL_1>": 'a"b@c.org'})
    call = event(tool_calls=[{"index": 0, "function": {"arguments": '{"to":"<EMAIL_1>"}'}}])
    stream = Stream({}, placeholders).feed(event(content="to <EMA"), event(content="IL_1> now"), call)
    assert stream.said() == 'to a"b@c.org now'
    sent = stream.sent[-1]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"to": 'a"b@c.org'}


def test_what_is_held_back_comes_before_the_finish():
    stream = Stream(MASKS).feed(event(content="ask jane@exam"), event(content="ple.com"), event(finish="stop"))
    assert stream.said() == "ask <EMAIL_1>"
    assert stream.sent[-1]["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "stop"}


def test_words_that_come_with_the_finish_stay_in_order():
    stream = Stream(BLOCKS).feed(event(content="one two", finish="stop"))
    assert (stream.said(), stream.finishes) == ("one two", ["stop"])
    stream = Stream(BLOCKS).feed(event(content=f"one {SECRET}", finish="stop"))
    assert (stream.said(), stream.finishes) == ("one ", ["content_filter"])


def test_completions_are_looked_at_too():
    def text(words: str, finish: str | None = None) -> bytes:
        return json.dumps({"choices": [{"index": 0, "text": words, "finish_reason": finish}]}).encode()

    stream = Stream(BLOCKS).feed(text("take "), text(SECRET[:9]), text(SECRET[9:]), text("", "stop"))
    assert "".join(one["choices"][0]["text"] for one in stream.sent) == "take "
    assert stream.finishes == ["content_filter"]


def test_a_flag_holds_nothing_back():
    stream = Stream({"watch": GuardSettings(guard="secrets")}).feed(event(content=SECRET[:12]))
    assert stream.said() == SECRET[:12]
    stream.feed(event(content=SECRET[12:] + " and"), event(finish="stop"))
    assert stream.said() == SECRET + " and"
    assert [one.action for one in stream.verdicts] == ["flag"]


def test_log_probabilities_tell_nothing_that_is_held_back():
    data = json.loads(event(content="ask "))
    data["choices"][0]["logprobs"] = {"content": [{"token": "ask "}]}
    stream = Stream(MASKS).feed(json.dumps(data).encode())
    assert stream.sent[0]["choices"][0]["logprobs"] is None


def test_words_of_a_replica_that_broke_are_context():
    said = "My password is"
    stream = Stream(BLOCKS, sent=said).feed(event(content=" hunter2!x and more words follow"), event(finish="stop"))
    assert "hunter2" not in stream.said()


def test_scripts_without_spaces_are_not_held_back():
    text = "这是一个没有空格的句子它会继续下去直到结束为止我们继续写下去"
    stream = Stream(BLOCKS | MASKS)
    for one in text:
        stream.feed(event(content=one))
    assert len(text) - len(stream.said()) <= 2


def test_an_event_that_is_not_json_is_garbage():
    with pytest.raises(EngineGarbage):
        Stream(BLOCKS).check(b"{nonsense")


def test_the_address_of_a_page_is_masked_whole_however_long_it_is() -> None:
    address = f"https://a.example/{'path/' * 500}end"
    rules = plan({"pages": GuardSettings(guard="pii", action="mask", kinds=("url",))}).output
    text = StreamedText(rules, NOTHING, Masker(), lambda _: None, where="content")
    said = [text.feed(piece) for piece in (*(address[at : at + 40] for at in range(0, len(address), 40)), " is it")]
    assert "".join((*said, text.close())) == "<URL_1> is it"


def test_the_end_of_a_stream_with_very_many_findings_comes_in_steps() -> None:
    stream = Stream(MASKS)
    text = "a@b.com:" * 600
    stream.feed(*(event(content=text[at : at + 100]) for at in range(0, len(text), 100)))
    assert stream.said() == ""
    steps = [stream.check(event(finish="stop"))]
    while stream.check.owes:
        steps.append(stream.check.more())
    assert len(steps) == 600 // FINDINGS_MAX + 1
    stream.sent = [json.loads(one) for step in steps for one in step]
    assert stream.said().count("<EMAIL") == len(stream.verdicts) == 600
    assert "@" not in stream.said()
    assert stream.finishes == ["stop"]


def test_each_text_that_is_held_back_is_a_step_of_the_end() -> None:
    stream = Stream(MASKS).feed(event(content="well, A"), event(reasoning="so, B"))
    steps = [stream.check(b"[DONE]")]
    while stream.check.owes:
        steps.append(stream.check.more())
    assert [len(step) for step in steps] == [1, 2]


def test_a_stream_that_is_cut_at_its_end_is_over_when_that_was_told() -> None:
    stream = Stream(BLOCKS).feed(event(content="take it "), event(reasoning=SECRET))
    stream.sent += [json.loads(one) for one in stream.check(event(finish="stop"))]
    assert not stream.check.is_over
    stream.sent += [json.loads(one) for one in stream.check.more()]
    assert stream.check.is_over
    assert stream.finishes == ["content_filter"]
