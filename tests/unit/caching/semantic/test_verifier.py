"""What makes near prompts different, rule by rule, and what does not."""

import time

import pytest

from heterodyne.caching.semantic import verifier
from heterodyne.caching.semantic.reading import TEXT_CHARS_MAX, read

DIFFERENT = [
    (verifier.NUMBER, "How do I lose 5 kg?", "How do I lose 15 kg?"),
    (verifier.NUMBER, "List two uses of salt", "List three uses of salt"),
    (verifier.NUMBER, "Explain HTTP 404", "Explain HTTP 403"),
    (verifier.DATE, "Who won the cup in 2014?", "Who won the cup in 2018?"),
    (verifier.DATE, "What is open on monday?", "What is open on sunday?"),
    (verifier.UNIT, "How many miles is the route?", "How many kilometers is the route?"),
    (verifier.NEGATION, "Why is salt good for me?", "Why is salt not good for me?"),
    (verifier.NEGATION, "Which birds can fly?", "Which birds can't fly?"),
    (verifier.NEGATION, "Can I travel with a visa?", "Can I travel without a visa?"),
    (verifier.NAME, "What is the capital of France?", "What is the capital of Spain?"),
    (verifier.NAME, "How do I translate '才' to English?", "How do I translate '笑点' to English?"),
    (verifier.NAME_ADDED, "What is the best phone?", "What is the best phone in India?"),
    (verifier.OPPOSITE, "What is the best way to eat?", "What is the worst way to eat?"),
    (verifier.OPPOSITE, "How do I enable the firewall?", "How do I disable the firewall?"),
    (verifier.SYMBOL, "What does == mean in a shell?", "What does = mean in a shell?"),
    (verifier.SYMBOL, "Write hello world in c++", "Write hello world in c#"),
    (verifier.QUESTION, "Why do cats purr?", "When do cats purr?"),
    (verifier.QUESTION, "How do trees grow?", "How long do trees grow?"),
    (verifier.ORDER, "Is tea stronger than coffee?", "Is coffee stronger than tea?"),
    (verifier.ORDER, "Convert celsius to fahrenheit", "Convert fahrenheit to celsius"),
    (verifier.CODE, "What does `a[0]` do?", "What does `a[1]` do?"),
    (verifier.CODE, "Fix this:\n```\nx = 1\n```", "Fix this:\n```\nx = 2\n```"),
]

SAME = [
    ("How do I lose 1,000 g?", "how do i lose 1000 g"),
    ("What can I do in one month?", "What can I do in 1 month?"),
    ("Give me 3.50 as a fraction", "Give me 3.5 as a fraction"),
    ("Who is the president of France?", "who is the president of france"),
    ("Why isn't my phone charging?", "Why does my phone not charge?"),
    ("How do I learn to cook?", "What is the best way to learn to cook?"),
    ("What does `a[0]` do?", "what does `a[ 0 ]` do?"),
    ("What are Neutrinos like?", "What is a neutrino like?"),
    ("", ""),
    ("How do I sleep well ?", "How do I sleep well?"),
]


@pytest.mark.parametrize(("rule", "first", "second"), DIFFERENT)
def test_a_difference_has_the_name_of_its_rule_in_either_order(rule: str, first: str, second: str):
    assert verifier.difference(read(first), read(second)) == rule
    assert verifier.difference(read(second), read(first)) == rule


@pytest.mark.parametrize(("first", "second"), SAME)
def test_other_words_for_the_same_are_no_difference(first: str, second: str):
    assert verifier.difference(read(first), read(second)) is None


@pytest.mark.parametrize("text", [first for _, first, _ in DIFFERENT] + [first for first, _ in SAME])
def test_a_prompt_does_not_differ_from_itself(text: str):
    assert verifier.difference(read(text), read(text)) is None


def test_a_capital_that_opens_a_sentence_is_no_name():
    assert read("Paris is old. Please explain. Where is Rome?").names == {"rome"}


def test_in_a_title_capitals_say_nothing():
    assert read("The Best Way To Cook Rice At Home").names == frozenset()


def test_a_huge_prompt_costs_no_more_than_a_long_one():
    assert len(" ".join(read("word " * 1_000_000).words)) <= TEXT_CHARS_MAX + 1


def test_a_short_prompt_is_compared_in_little_time():
    cached, text = (
        read("How do I cook rice without a lid in 20 minutes?"),
        "How can I cook rice without a lid in 20 min?",
    )
    quickest_s = min(_timed(text, cached) for _ in range(200))
    assert quickest_s < 500e-6  # about 40 µs; the machine may be busy


def _timed(text: str, cached) -> float:
    begin = time.perf_counter()
    verifier.difference(read(text), cached)
    return time.perf_counter() - begin
