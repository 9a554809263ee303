"""What users asked before, asked again of a candidate."""

import json

import pytest

from heterodyne.domain.audit import RequestEntry
from heterodyne.domain.operation import Operation
from heterodyne.rollout.asked_again import body_again
from heterodyne.rollout.evidence import seen
from heterodyne.rollout.preference import judge_questions, preference_of
from heterodyne.rollout.replay import (
    ANSWER_TOKENS_MAX,
    CapturedRequest,
    JudgePreference,
    ReplaySeen,
    compared_with_before,
    try_capture,
    word_likeness,
)
from heterodyne.rollout.said import CalledTool, Said

ASKED = {"model": "chat", "messages": [{"role": "user", "content": "The capital of France?"}]}


def entry(prompt: object = ASKED, answer: str | None = "Paris.", **fields: object) -> RequestEntry:
    text = None if prompt is None else prompt if isinstance(prompt, str) else json.dumps(prompt)
    usual = {"id": "r", "at": 1.0, "operation": "chat", "asked_model": "chat", "model": "chat", "status": 200}
    return RequestEntry(**(usual | {"prompt": text, "answer": answer} | fields))


def captured(**fields: object) -> CapturedRequest:
    found = try_capture(entry(**fields))
    assert found is not None
    return found


def test_what_was_kept_whole_and_answered_can_be_asked_again() -> None:
    one = captured()
    assert (one.operation, one.said, one.question) == (Operation.CHAT, Said(text="Paris."), "The capital of France?")
    whole = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Paris!"}}]})
    assert captured(answer=whole).said == Said(text="Paris!")
    completion = captured(prompt={"model": "m", "prompt": "Once"}, operation="completion")
    assert completion.question == "Once"
    parts = [{"type": "text", "text": "What is this?"}]
    assert "What is this?" in captured(prompt={"messages": [{"role": "user", "content": parts}]}).question


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": None},
        {"answer": None},
        {"answer": ""},
        {"status": 500},
        {"reason": "client_gone"},
        {"operation": "embedding"},
        {"prompt": "not JSON"},
        {"prompt": "[1]"},
        {"prompt": {"messages": []}},
        {"prompt": {"messages": ["hello"]}},
        {"prompt": {"prompt": [1, 2]}},
        {"prompt": {"messages": [{"role": "user", "content": "a long one[cut]"}]}},
        {"answer": "a long one[cut]"},
    ],
)
def test_what_was_not_cannot(fields: dict[str, object]) -> None:
    assert try_capture(entry(**fields)) is None


def test_what_is_held_to_regions_is_asked_again_in_them_alone() -> None:
    held = entry(regions=("asia", "eu"))
    assert try_capture(held) is None
    assert try_capture(held, "us") is None
    assert try_capture(held, "eu") == try_capture(entry()) == try_capture(entry(), "us")


def again(asked: dict[str, object]) -> dict[str, object]:
    return body_again(captured(prompt=asked).body, "next", ANSWER_TOKENS_MAX)


def test_it_is_asked_once_whole_and_always_alike() -> None:
    asked = ASKED | {"stream": True, "n": 3, "seed": 7, "temperature": 0.9, "max_tokens": 9000, "top_p": 0.5}
    assert again(asked) == {
        "model": "next",
        "messages": ASKED["messages"],
        "temperature": 0,
        "top_p": 0.5,
        "max_tokens": ANSWER_TOKENS_MAX,
    }
    assert again(ASKED | {"max_completion_tokens": 5})["max_tokens"] == 5


def test_answers_are_judged_as_a_canary_s_are() -> None:
    good, sorry = Said(text="It is Paris."), Said(text="I'm sorry, but I can't help with that.")
    seen = ReplaySeen()
    for _ in range(300):
        seen = seen.plus(compared_with_before(captured(answer="It is Paris."), good))
    assert (seen.candidate.requests, seen.is_worse, seen.verdict.breaches) == (300, False, ())
    assert seen.likeness.total == 300.0
    for _ in range(60):
        seen = seen.plus(compared_with_before(captured(answer="It is Paris."), sorry))
    assert seen.is_worse
    assert "refusals" in seen.verdict.breaches
    failed = ReplaySeen()
    for _ in range(60):
        failed = failed.plus(compared_with_before(captured(), None))
    assert failed.verdict.breaches == ("errors",)


def test_calls_are_held_against_the_tools_that_were_offered() -> None:
    tools = [{"type": "function", "function": {"name": "now", "parameters": {"required": ["zone"]}}}]
    one = captured(prompt=ASKED | {"tools": tools})
    bad, good = (Said(calls=(CalledTool("now", arguments),)) for arguments in ("{}", '{"zone": "CET"}'))
    assert compared_with_before(one, bad).candidate.sums["invalid_tool_calls"].total == 1.0
    assert compared_with_before(one, good).candidate.sums["invalid_tool_calls"].total == 0.0


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [("", "", 1.0), ("a", "", 0.0), ("a b c", "a b c", 1.0), ("A b", "b a", 1.0), ("a b", "a c", 0.5), ("a", "b", 0.0)],
)
def test_words_are_alike_by_how_many_both_have(one: str, other: str, likeness: float) -> None:
    assert word_likeness(one, other) == likeness == word_likeness(other, one)


@pytest.mark.parametrize(
    ("first", "second", "preferred"),
    [
        ("B", "A", JudgePreference(candidate=1)),
        (" **B**.", "a", JudgePreference(candidate=1)),
        ("A", "B", JudgePreference(before=1)),
        ("A", "A", JudgePreference(ties=1)),
        ("tie", "A", JudgePreference(ties=1)),
        ("", "", JudgePreference(ties=1)),
        ("Banana", "A", JudgePreference(ties=1)),
    ],
)
def test_a_judge_is_believed_who_prefers_the_same_in_both_orders(
    first: str, second: str, preferred: JudgePreference
) -> None:
    assert preference_of(first, second) == preferred


def test_a_judge_sees_both_answers_in_both_orders() -> None:
    first, second = judge_questions("Why?", "before {x}", "candidate")
    assert first.index("before {x}") < first.index("candidate")
    assert second.index("candidate") < second.index("before {x}")


def test_a_candidate_that_a_judge_likes_less_is_worse() -> None:
    even = ReplaySeen(preference=JudgePreference(30, 30, 10), candidate=seen({"errors": 0.0}))
    assert not even.is_worse
    assert even.plus(ReplaySeen(preference=JudgePreference(0, 60))).is_worse
    assert even.plus(ReplaySeen()).preference == even.preference
