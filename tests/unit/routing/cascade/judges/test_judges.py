"""What each judge doubts, and what it does not."""

import math

import pytest

from heterodyne.domain.errors import UnknownName
from heterodyne.routing.cascade.judges import (
    arithmetic,
    consistency,
    left_out,
    logprobs,
    steps,
    structure,
    verifier,
    whole_result,
)
from heterodyne.routing.cascade.judges.catalogue import JUDGES, judged
from heterodyne.routing.cascade.judges.doubt import FREE_FORM, UNUSABLE, AnswerForm, JudgedAnswer, WrittenCall
from heterodyne.routing.cascade.judges.results import result_of

SCHEMA = {
    "type": "object",
    "required": ["name", "age"],
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        "size": {"anyOf": [{"type": "null"}, {"type": "number"}]},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("So she has 1,200.50 left.\n#### 1,200.5", "1200.5"),
        ("The answer is 18 dollars.\n\nQuestion: what is 3?", "18"),
        (r"Thus \boxed{42}.", "42"),
        ("Answer: (B) because of the 3 laws", "B"),
        ("Answer: C", "C"),
        ("A: 18", "18"),
        ("16 - 3 = 13, and 13 - 4 = 9", "9"),
        ("It is -007.", "-7"),
        ("  Paris, of course!", "paris of course"),
        ("The answer is Paris.", "paris"),
        ("...", None),
        ("", None),
    ],
)
def test_equal_results_are_equal_strings(text: str, result: str | None) -> None:
    assert result_of(text) == result


def consistent(text: str, *samples: str) -> tuple[float, str] | None:
    doubt = consistency.judge(JudgedAnswer(text=text, samples=samples), FREE_FORM)
    return doubt and (doubt.risk, doubt.reason)


def test_samples_that_agree_take_doubt_away() -> None:
    assert consistent("#### 18", "The answer is 18.", "18.0 dollars") == (0, "agreed")
    assert consistent("#### 18", "#### 18", "#### 20") == (0.5, "split")
    assert consistent("#### 18", "#### 20", "#### 20", "#### 20") == (0.99, "outvoted")
    assert consistent("#### 18", "", "#### 18") == (0.5, "split")
    assert consistent("!", "#### 20") == (0.99, "no_result")
    assert consistent("#### 18") is None


def test_unlikely_tokens_are_doubted_even_in_a_likely_answer() -> None:
    def risk(*values: float, alternatives: tuple[tuple[float, ...], ...] = ()) -> tuple[float, str]:
        doubt = logprobs.judge(JudgedAnswer(text="x", logprobs=values, alternatives=alternatives), FREE_FORM)
        assert doubt is not None
        return doubt.risk, doubt.reason

    sure = risk(*[-0.01] * 20)
    one_slip = risk(*[-0.01] * 19, -4.0)
    unsure = risk(*[-1.2] * 20)
    assert sure[0] < 0.05 < one_slip[0] < unsure[0] <= 0.99
    assert [one[1] for one in (sure, one_slip, unsure)] == ["sure", "unsure_somewhere", "unsure_throughout"]
    even = math.log(0.5)
    assert risk(-0.01, alternatives=((even, even),))[0] == pytest.approx(0.99)
    assert risk(-0.01, alternatives=((0.0,),))[0] < 0.05
    assert logprobs.judge(JudgedAnswer(text="x"), FREE_FORM) is None


def structured(text: str, form: AnswerForm = FREE_FORM, **fields: object) -> tuple[float, str]:
    doubt = structure.judge(JudgedAnswer(text=text, **fields), form)  # type: ignore[arg-type]
    return doubt.risk, doubt.reason


@pytest.mark.parametrize(
    ("text", "form", "reason"),
    [
        ("Paris.", FREE_FORM, "well_formed"),
        ("  \n", FREE_FORM, "empty"),
        ('{"a": 1}', AnswerForm(is_json=True), "well_formed"),
        ('{"a": 1', AnswerForm(is_json=True), "not_json"),
        ("[" * 100_000, AnswerForm(is_json=True), "not_json"),
        ('"\ud800"', AnswerForm(is_json=True), "not_json"),
        ("\ud800 = 1", AnswerForm(language="python"), "code_broken"),
        ('{"name": "x", "age": 3, "tags": ["a"], "size": null}', AnswerForm(schema=SCHEMA), "well_formed"),
        ('{"name": "x", "age": true}', AnswerForm(schema=SCHEMA), "not_of_schema"),
        ('{"name": "x"}', AnswerForm(schema=SCHEMA), "not_of_schema"),
        ('{"name": "x", "age": 3, "tags": ["c"]}', AnswerForm(schema=SCHEMA), "not_of_schema"),
        ('{"name": "x", "age": 3, "size": "L"}', AnswerForm(schema=SCHEMA), "not_of_schema"),
        ('{"name": "x", "age": 3, "more": 1}', AnswerForm(schema=SCHEMA), "not_of_schema"),
        ("Here:\n```python\ndef f(x):\n    return x\n```", AnswerForm(language="python"), "well_formed"),
        ("def f(x):\n    return x", AnswerForm(language="python"), "well_formed"),
        ("```python\ndef f(x)\n    return x\n```", AnswerForm(language="python"), "code_broken"),
        ("(" * 50_000, AnswerForm(language="python"), "code_broken"),
        ("```python\n\n```", AnswerForm(language="python"), "no_code"),
        ("sorry", AnswerForm(language="python"), "no_code"),
        ("anything at all", AnswerForm(language="cobol"), "well_formed"),
        ("I'm sorry, but I can't help with that.", FREE_FORM, "refused"),
        ("He is sorry that he came.", FREE_FORM, "well_formed"),
        ("It is 18", AnswerForm(final_mark="####"), "no_final_mark"),
        ("#### 18", AnswerForm(final_mark="####"), "well_formed"),
    ],
)
def test_the_form_that_was_asked_for_is_checked(text: str, form: AnswerForm, reason: str) -> None:
    risk, found = structured(text, form)
    assert found == reason
    doubted = {"refused", "no_final_mark"}
    assert risk == (0 if reason == "well_formed" else pytest.approx(0.75, abs=0.06) if reason in doubted else UNUSABLE)


def test_an_answer_that_was_cut_off_is_doubted() -> None:
    assert structured("Once upon a", finish_reason="length") == (0.9, "cut_off")


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("weather", '{"city": "Ulm"}', "well_formed"),
        ("weather", '{"town": "Ulm"}', "call_invalid"),
        ("weather", '{"city": ', "call_invalid"),
        ("weather", '["Ulm"]', "call_invalid"),
        ("wether", '{"city": "Ulm"}', "unknown_tool"),
        ("now", "", "well_formed"),
    ],
)
def test_calls_must_name_a_tool_and_have_its_members(name: str, arguments: str, reason: str) -> None:
    form = AnswerForm(tools={"weather": ("city",), "now": ()})
    calls = (WrittenCall(name=name, arguments=arguments),)
    assert structured("", form, calls=calls)[1] == reason
    unchecked = structured("", calls=(WrittenCall(name="anything", arguments="{}"),))
    assert unchecked == (0, "well_formed")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("She has 16 - 3 = 13 eggs, for 9 * $2 = $18.", "sums_are_right"),
        ("(12 / 20) x 100 = 55", "sum_is_wrong"),
        ("1,000 + 500 = 1,500 and 10 / 3 = 3.33", "sums_are_right"),
        ("2 + 2 = 5", "sum_is_wrong"),
        ("1 / 0 = 7", None),
        ("20% of 50 = 10", None),
        ("x = 3", None),
        ("9 ** 9 = 7", None),
        ("((((2 + 2 = 4", None),
        ("no sums", None),
    ],
)
def test_sums_are_done_again(text: str, reason: str | None) -> None:
    doubt = arithmetic.judge(JudgedAnswer(text=text), FREE_FORM)
    assert (None if doubt is None else doubt.reason) == reason


def test_a_hostile_answer_is_judged_in_no_time() -> None:
    for text in ("1+" * 50_000 + "=", "(" * 50_000 + "=1", "9" * 50_000 + "+1=3", "1 " * 50_000):
        arithmetic.judge(JudgedAnswer(text=text), FREE_FORM)
        result_of(text[:4000])


@pytest.mark.parametrize(
    ("verdict", "risk", "reason"),
    [
        ("Yes, it is.", 0, "accepted"),
        ("Correct.", 0, "accepted"),
        ("Incorrect: 3 is odd", 0.99, "rejected"),
        ("No", 0.99, "rejected"),
        ("7/10", 0.3, "accepted"),
        ("Grade: 2 out of 10", 0.8, "rejected"),
        ("Hm.", 0.5, "unclear"),
    ],
)
def test_a_verdict_is_read(verdict: str, risk: float, reason: str) -> None:
    doubt = verifier.judge(JudgedAnswer(text="x", verdict=verdict), FREE_FORM)
    assert doubt is not None
    assert (doubt.risk, doubt.reason) == (pytest.approx(risk), reason)


def test_judges_are_asked_by_name_and_those_with_nothing_to_go_by_are_left_out() -> None:
    assert set(judged(JudgedAnswer(text="Paris"))) == {"structure"}
    everything = JudgedAnswer(
        text="2 + 2 = 4", question="What is 2 + 2?", logprobs=(-0.1,), samples=("4",), verdict="yes"
    )
    assert list(judged(everything)) == list(JUDGES)
    assert list(judged(everything, names=("verifier",))) == ["verifier"]
    with pytest.raises(UnknownName, match="consistency"):
        judged(everything, names=("consistent",))


APPLES = "Jo has 12 apples and 3 baskets, and buys 1,200 more. How many are there?"


@pytest.mark.parametrize(("question", "text", "found"), [
    (APPLES, "12 + 1200 = 1212, in 3 baskets", (0.0, "all_numbers_used")),
    (APPLES, "12 + 1,200 = 1212", (pytest.approx(1 / 3), "number_left_out")),
    (APPLES, "It is 7.", (0.99, "number_left_out")),
    (APPLES, "Many.", None),
    ("How many are there?", "12", None),
])  # fmt: skip
def test_numbers_of_the_question_that_are_left_out_are_doubted(question: str, text: str, found: object) -> None:
    doubt = left_out.judge(JudgedAnswer(text=text, question=question), FREE_FORM)
    assert (doubt and (doubt.risk, doubt.reason)) == found


@pytest.mark.parametrize(("text", "found"), [
    ("1 + 1 = 2", (1 / 16, "few_steps")),
    ("1 + 1 = 2, " * 8, (0.5, "many_steps")),
    ("1 + 1 = 2, " * 40, (0.99, "many_steps")),
    ("It is 7.", None),
])  # fmt: skip
def test_more_steps_are_doubted_more(text: str, found: object) -> None:
    doubt = steps.judge(JudgedAnswer(text=text), FREE_FORM)
    assert (doubt and (doubt.risk, doubt.reason)) == found


@pytest.mark.parametrize(("question", "text", "found"), [
    (APPLES, "#### 1212", (0.0, "whole_result")),
    (APPLES, "#### 404.5", (0.9, "fraction_or_negative")),
    (APPLES, "#### -3", (0.9, "fraction_or_negative")),
    (APPLES, "Answer: Paris", None),
    ("It costs 2.50 now. And then?", "#### 404.5", None),
    ("A third of 30% of 9?", "#### 0.9", None),
    ("And then?", "#### 404.5", None),
])  # fmt: skip
def test_a_fraction_of_whole_numbers_is_doubted(question: str, text: str, found: object) -> None:
    doubt = whole_result.judge(JudgedAnswer(text=text, question=question), FREE_FORM)
    assert (doubt and (doubt.risk, doubt.reason)) == found
