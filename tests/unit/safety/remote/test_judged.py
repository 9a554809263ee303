"""What follows from what guards elsewhere have found."""

import msgspec

from heterodyne.safety.answer_check import check_answer
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.policy import GuardPolicy, rule_of
from heterodyne.safety.remote.judged import Judged, Looked, RemoteFinding, guarded_by
from heterodyne.safety.settings import GuardSettings

BLOCK = GuardSettings(guard="http", action="block", url="http://localhost/")
FLAG = GuardSettings(guard="http", action="flag", url="http://localhost/")
ANSWER = {
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "one", "tool_calls": []}, "finish_reason": "stop"},
        {"index": 1, "message": {"role": "assistant", "content": "two"}, "finish_reason": "stop"},
    ]
}


def judged(settings: GuardSettings, where: str = "") -> Judged:
    return Judged("policy", settings, (RemoteFinding(rule="hate", score=0.71234, where=where),))


def answer(*found: Judged) -> tuple[list[tuple[str | None, str]], list[str]]:
    guarded, body = check_answer((), NOTHING, msgspec.json.encode(ANSWER), judged=found)
    choices = msgspec.json.decode(body)["choices"]
    told = [(choice["message"]["content"], choice["finish_reason"]) for choice in choices]
    return told, [one.where for one in guarded.verdicts]


def test_a_choice_that_is_named_is_cut_and_the_others_stay() -> None:
    where = "choices[1].message.content"
    assert answer(judged(BLOCK, where)) == ([("one", "stop"), ("", "content_filter")], [where])


def test_where_nothing_is_named_every_choice_is_cut() -> None:
    cut = [("", "content_filter"), ("", "content_filter")]
    assert answer(judged(BLOCK)) == (cut, [""])
    assert answer(judged(BLOCK, "choices[7].message.content"))[0] == cut


def test_what_only_flags_changes_nothing() -> None:
    assert answer(judged(FLAG)) == ([("one", "stop"), ("two", "stop")], [""])


def test_an_answer_without_choices_is_blocked_as_a_whole() -> None:
    guarded, body = check_answer((), NOTHING, b'{"text": "one"}', judged=[judged(BLOCK)])
    assert (body, guarded.blocked) == (b'{"text": "one"}', guarded.verdicts[0])
    assert guarded.verdicts[0].score == 0.712


def test_the_first_that_blocks_is_why_a_request_is_refused() -> None:
    guarded = guarded_by(Looked((judged(FLAG), judged(BLOCK, "prompt"))), "input")
    assert guarded.blocked is guarded.verdicts[1]
    assert guarded_by(Looked((judged(FLAG),)), "input").blocked is None


def test_what_nobody_can_read_is_a_verdict_of_its_own() -> None:
    guarded = guarded_by(Looked(unread=(rule_of("policy", BLOCK),)), "input")
    assert guarded.blocked is not None
    assert guarded.blocked.rule == "unreadable"


def test_policies_fail_as_they_declare_or_as_they_act() -> None:
    assert not rule_of("policy", BLOCK).passes_unseen
    assert rule_of("policy", FLAG).passes_unseen
    declared = GuardSettings(guard="http", action="block", url="http://localhost/", on_failure="pass")
    assert rule_of("policy", declared).passes_unseen


def test_guards_elsewhere_have_a_plan_of_their_own() -> None:
    judge = GuardSettings(guard="judge", judge_model="m", direction="output")
    plan = GuardPolicy({"out": BLOCK, "here": GuardSettings(guard="secrets"), "judge": judge}).plan("a/b", "m", "m")
    assert plan is not None
    assert [rule.policy for rule in plan.input] == [rule.policy for rule in plan.output] == ["here"]
    assert [rule.policy for rule in plan.remote_input] == ["out"]
    assert [(rule.policy, rule.timeout_s) for rule in plan.remote_output] == [("out", 0.5), ("judge", 5.0)]
