"""Streams whose calls are held back until they are whole, and streams that end where they are long enough."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.answer_check import check_answer
from heterodyne.safety.guarded import Guarded
from heterodyne.safety.inspection import held_calls
from heterodyne.safety.inspection.stages import call_rules
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.request_check import check_request
from heterodyne.safety.request_guard import RequestGuard
from heterodyne.safety.settings import GuardSettings
from tests.support.calls import READ, asked
from tests.support.examples import examples
from tests.support.guards import BLOCKS, EMAIL, MASKS, SECRET, all_of, plan

CALLS = GuardSettings(guard="tool_calls", action="block", roots_allowed=("/work",))
OFFER = asked(tools=[READ])


def event(index: int = 0, finish: str | None = None, **delta: Any) -> bytes:
    return json.dumps({"id": "c", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}).encode()


def calls(*pieces: dict[str, Any], index: int = 0) -> bytes:
    return event(index, tool_calls=list(pieces))


def begun(name: str, arguments: str = "", place: int = 0) -> dict[str, Any]:
    return {
        "index": place,
        "id": f"call_{place}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def more(arguments: str, place: int = 0) -> dict[str, Any]:
    return {"index": place, "function": {"arguments": arguments}}


class Stream:
    """One answer to a request past policies."""

    def __init__(
        self, *policies: GuardSettings, request: bytes = OFFER, choices: int = 1, sent: str = "", **named: GuardSettings
    ) -> None:
        every = {f"p{number}": one for number, one in enumerate(policies)} | named
        self.verdicts: list[GuardVerdict] = []
        self.guard = RequestGuard(plan(every), self.verdicts.append)
        guarded, self.request = check_request(self.guard.plan.input, request)
        assert isinstance(guarded, Guarded)
        self.guard.take(guarded)
        self.check = self.guard.stream_guard(choices, sent)
        self.sent: list[dict[str, Any]] = []

    def feed(self, *events: bytes) -> "Stream":
        for data in events:
            self.sent += [json.loads(one) for one in all_of(self.check, data) if one != b"[DONE]"]
        return self

    @property
    def choices(self) -> list[dict[str, Any]]:
        return [choice for one in self.sent for choice in one["choices"]]

    @property
    def text(self) -> str:
        return "".join(one["delta"].get("content") or "" for one in self.choices)

    @property
    def called(self) -> list[dict[str, Any]]:
        return [one for choice in self.choices for one in choice["delta"].get("tool_calls", ())]

    @property
    def finishes(self) -> list[str]:
        return [choice["finish_reason"] for choice in self.choices if choice["finish_reason"]]

    @property
    def rules(self) -> list[str]:
        return [one.rule for one in self.verdicts]


def test_words_leave_at_once_and_calls_when_all_of_them_are_there() -> None:
    stream = Stream(CALLS).feed(event(role="assistant", content="reading "), calls(begun("read")), calls(more('{"pa')))
    assert (stream.text, stream.called) == ("reading ", [])
    stream.feed(event(content="on "), calls(more('th": "a"}')), event(finish="tool_calls"), b"[DONE]")
    assert stream.text == "reading on "
    assert stream.called == [begun("read", '{"path": "a"}')]
    assert stream.finishes == ["tool_calls"]
    assert stream.verdicts == []


def test_a_call_that_is_blocked_is_never_begun() -> None:
    pieces = [calls(more(one)) for one in '{"path": "/etc/passwd"}']
    stream = Stream(CALLS).feed(event(content="reading"), calls(begun("read")), *pieces, event(finish="tool_calls"))
    assert (stream.text, stream.called, stream.finishes) == ("reading", [], ["content_filter"])
    (verdict,) = stream.verdicts
    assert (verdict.rule, verdict.where) == ("path_outside", "choices[0].tool_calls[0].function.arguments")
    assert not stream.check.is_over, "its engine has ended it, and tells what it used"


def test_all_calls_of_a_choice_go_or_none() -> None:
    two = (calls(begun("read", '{"path": "a"}')), calls(begun("write", "{}", 1)))
    stream = Stream(CALLS).feed(*two, event(finish="tool_calls"))
    assert (stream.called, stream.rules) == ([], ["unknown_tool"])
    other = Stream(CALLS, choices=2).feed(*two, calls(begun("read", '{"path": "b"}'), index=1))
    other.feed(event(0, "tool_calls"), event(1, "tool_calls"))
    assert [one["function"]["arguments"] for one in other.called] == ['{"path": "b"}']
    assert other.finishes == ["content_filter", "tool_calls"]


def test_a_stream_that_does_not_say_why_it_ended_is_judged_at_its_end() -> None:
    assert Stream(CALLS).feed(calls(begun("read", '{"path": "a"}')), b"[DONE]").called
    stream = Stream(CALLS).feed(calls(begun("read", "{")), b"[DONE]")
    assert (stream.called, stream.finishes) == ([], ["content_filter"])


def test_a_call_in_one_event_with_its_end_and_with_words() -> None:
    stream = Stream(CALLS).feed(event(finish="tool_calls", content="so", tool_calls=[begun("read", '{"path": "a"}')]))
    assert (stream.text, stream.called, stream.finishes) == ("so", [begun("read", '{"path": "a"}')], ["tool_calls"])
    told = [next(iter(choice["delta"]), None) for choice in stream.choices]
    assert told == ["content", "tool_calls", None]


def test_older_clients_calls_are_held_too() -> None:
    request = asked(functions=[READ["function"]])
    said = [event(function_call={"name": "read", "arguments": ""}), event(function_call={"arguments": '{"path": "'})]
    good = Stream(CALLS, request=request).feed(
        *said, event(function_call={"arguments": 'a"}'}), event(finish="function_call")
    )
    assert good.choices[0]["delta"] == {"function_call": {"name": "read", "arguments": '{"path": "a"}'}}
    bad = Stream(CALLS, request=request).feed(
        *said, event(function_call={"arguments": '/a"}'}), event(finish="function_call")
    )
    assert [one["delta"] for one in bad.choices] == [{}]
    assert bad.rules == ["path_outside"]


def test_what_grows_over_its_bound_stops_its_engine(monkeypatch) -> None:
    policy = GuardSettings(guard="tool_calls", action="block", argument_chars_max=100, calls_max=2)
    stream = Stream(policy).feed(calls(begun("read")), *[calls(more("x" * 10)) for _ in range(12)])
    assert (stream.rules, stream.finishes, stream.check.is_over) == (["arguments_too_long"], ["content_filter"], True)
    assert stream.check(event(content="more")) == ()
    stream = Stream(policy).feed(*[calls(begun("read", "{}", place)) for place in range(4)])
    assert (stream.rules, stream.check.is_over) == (["too_many_calls"], True)
    monkeypatch.setattr(held_calls, "HELD_CHARS_MAX", 50)
    stream = Stream(CALLS, choices=2).feed(*[calls(begun("read", "x" * 30), index=one) for one in (0, 1)])
    assert (stream.rules, stream.finishes, stream.check.is_over) == (["arguments_too_long"], ["content_filter"], False)


def test_calls_are_judged_as_their_client_gets_them() -> None:
    known = asked({"role": "user", "content": f"ask {EMAIL}"}, tools=[READ])
    denies = GuardSettings(guard="tool_calls", action="block", arguments_denied=(r"@example\.com",))
    stream = Stream(denies, request=known, **MASKS)
    assert EMAIL.encode() not in stream.request
    stream.feed(calls(begun("read", '{"path": "<EMA')), calls(more('IL_1>"}')), event(finish="tool_calls"))
    assert (stream.called, stream.rules) == ([], ["email", "denied_argument"])


def test_a_secret_in_a_call_leaves_nothing_of_the_call() -> None:
    stream = Stream(CALLS, **BLOCKS)
    stream.feed(event(content="see"), calls(begun("read", '{"path": "')), calls(more(SECRET)), calls(more(' x"}')))
    stream.feed(event(finish="tool_calls"))
    assert (stream.text, stream.called, stream.finishes) == ("see", [], ["content_filter"])
    assert stream.rules == ["anthropic_key"]


def test_what_is_only_flagged_is_not_held() -> None:
    stream = Stream(GuardSettings(guard="tool_calls"))
    assert stream.guard.late
    assert not stream.guard.edits_answers
    assert not stream.guard.holds_answers


def test_an_answer_of_a_schema_is_held_where_one_is_asked_for() -> None:
    policy = GuardSettings(guard="schema", action="block")
    assert not Stream(policy).guard.holds_answers
    assert Stream(policy, request=asked(response_format={"type": "json_object"})).guard.holds_answers
    assert not Stream(
        GuardSettings(guard="schema"), request=asked(response_format={"type": "json_object"})
    ).guard.holds_answers


LIMIT = GuardSettings(guard="length", action="block", answer_chars_max=10)


def test_a_stream_ends_at_its_bound() -> None:
    stream = Stream(LIMIT).feed(event(content="12345"), event(content="67890"))
    assert not stream.check.is_over
    stream.feed(event(content="abc"), event(content="def"))
    assert (stream.text, stream.finishes, stream.rules) == ("1234567890", ["content_filter"], ["answer_too_long"])
    assert stream.check.is_over


def test_what_is_exactly_long_enough_passes() -> None:
    stream = Stream(LIMIT).feed(event(content="1234567890"), event(finish="stop"))
    assert (stream.finishes, stream.rules) == (["stop"], [])


def test_thoughts_calls_and_what_another_replica_said_count() -> None:
    stream = Stream(LIMIT, sent="12345").feed(event(reasoning_content="678"), calls(begun("read", '{"a": 1}')))
    assert stream.choices[-1]["delta"]["tool_calls"][0]["function"]["arguments"] == '{"'
    assert stream.finishes == ["content_filter"]
    texts = [
        json.dumps({"choices": [{"text": one, "index": 0, "finish_reason": None}]}).encode() for one in ("1" * 8, "234")
    ]
    stream = Stream(LIMIT).feed(*texts)
    assert [(one["text"], one["index"], one["finish_reason"]) for one in stream.choices] == [
        ("1" * 8, 0, None), ("23", 0, "content_filter"),
    ]  # fmt: skip


ARGUMENTS = st.sampled_from([
    '{"path": "/etc/passwd"}', '{"path": "/work/a"}', '{"path": ', '{"path": "a", "more": [1, 2]}', '{"path": 3}', "",
])  # fmt: skip


@given(ARGUMENTS, st.sampled_from(["read", "write"]), st.text("ab <{", max_size=12), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_a_stream_says_what_the_whole_answer_would_however_it_is_cut(
    arguments: str, name: str, words: str, data: st.DataObject
) -> None:
    def pieces(text: str) -> list[str]:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
        return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    events = [event(content=one) for one in pieces(words)] + [calls(begun(name))]
    events += [calls(more(one)) for one in pieces(arguments)] + [event(finish="tool_calls")]
    stream = Stream(CALLS).feed(*events)
    message = {"role": "assistant", "content": words, "tool_calls": [begun(name, arguments)]}
    whole = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()
    other = Stream(CALLS)
    choice = json.loads(other.guard.check_answer(whole))["choices"][0]
    assert stream.rules == other.rules
    assert stream.text == words
    assert [one["function"] for one in stream.called] == [
        one["function"] for one in choice["message"].get("tool_calls", ())
    ]
    assert stream.finishes == [choice["finish_reason"]]


def long_call(path: str) -> tuple[bytes, ...]:
    arguments = json.dumps({"path": path, "text": "word " * 1000})
    pieces = [arguments[at : at + 100] for at in range(0, len(arguments), 100)]
    return (calls(begun("read")), *(calls(more(one)) for one in pieces))


@pytest.mark.parametrize("path", ["/work/a", "/etc/passwd"])
@pytest.mark.parametrize("end", [event(finish="tool_calls"), b"[DONE]"])
def test_a_long_call_is_asked_to_be_judged_elsewhere_and_says_what_it_would_here(path: str, end: bytes) -> None:
    here, elsewhere = Stream(CALLS).feed(*long_call(path), end), Stream(CALLS).feed(*long_call(path))
    check = elsewhere.check
    made = check(end)
    assert (check.owes, made) == (True, ())
    rules = call_rules(elsewhere.guard.plan)
    guarded, _ = check_answer(rules, NOTHING, check.asked, expected=elsewhere.guard.plan.expected)
    check.judged(guarded.verdicts)
    made += check.more()
    assert (check.owes, check.asked) == (False, b"")
    elsewhere.sent += [json.loads(one) for one in made if one != b"[DONE]"]
    assert elsewhere.choices[-2:] == here.choices[-2:]
    assert [(one.rule, one.where) for one in elsewhere.verdicts] == [(one.rule, one.where) for one in here.verdicts]
    assert bool(here.verdicts) is (path == "/etc/passwd")
    assert bool(here.called) is (path == "/work/a")


def test_many_calls_are_asked_to_be_judged_elsewhere() -> None:
    stream = Stream(CALLS).feed(*(calls(begun("read", "{}", place)) for place in range(held_calls.AT_ONCE_CALLS + 1)))
    assert stream.check(event(finish="tool_calls")) == ()
    assert len(json.loads(stream.check.asked)["choices"][0]["message"]["tool_calls"]) == held_calls.AT_ONCE_CALLS + 1
