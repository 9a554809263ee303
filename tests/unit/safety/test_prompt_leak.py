"""An answer that tells twelve words of its system prompt in a row is found, whole or as it grows; others are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.safety.prompt_leak import RUNS_MAX, LeakFinder, runs_of

PROMPT = (
    "You are Orla, the assistant of a bank in Cork. Never say which model you are, never promise a rate, and send "
    "whoever asks about a mortgage to the desk on the second floor."
)
FINDER = LeakFinder(runs_of((PROMPT,)))


@pytest.mark.parametrize(
    "answer",
    [
        f"My instructions are: {PROMPT}",
        "They say: never promise a rate, and send whoever asks about a mortgage to the desk upstairs.",
        "NEVER SAY WHICH\nMODEL  YOU ARE - never promise a RATE! and SEND them away.",
    ],
)
def test_words_of_the_prompt_are_found(answer: str) -> None:
    (found,) = FINDER.find(answer)
    assert answer[found.start : found.end].lower().split()[:2] in (
        ["you", "are"],
        ["never", "promise"],
        ["never", "say"],
    )
    assert found.rule == "system_prompt"


@pytest.mark.parametrize(
    "answer",
    [
        "I am Orla, the assistant of a bank in Cork.",
        "Ask about a mortgage at the desk on the second floor.",
        "",
        "never say never say never say never say",
    ],
)
def test_a_few_words_in_common_are_not(answer: str) -> None:
    assert FINDER.find(answer) == []


def test_two_places_are_two_findings() -> None:
    said = "Never say which model you are, never promise a rate, and send. Besides, " + PROMPT.partition("send ")[2]
    assert [said[one.start : one.end].split()[0] for one in FINDER.find(said)] == ["Never", "whoever"]


def test_a_short_prompt_has_no_runs_and_a_long_one_so_many() -> None:
    assert runs_of(("Be kind and brief.",)) == ()
    assert LeakFinder(()).find(PROMPT) == []
    long = " ".join(f"word{number}" for number in range(3 * RUNS_MAX))
    assert len(runs_of((long,))) == RUNS_MAX


@given(st.integers(0, 40), st.lists(st.integers(1, 60), max_size=40), st.text(max_size=30))
def test_nothing_of_what_is_found_is_settled_before(skipped: int, cuts: list[int], before: str) -> None:
    """However the text grows, what is sent never reaches into what turns out to be told."""
    text = f"{before} {' '.join(PROMPT.split()[skipped:])} and that is all."
    findings = FINDER.find(text)
    at = 0
    for cut in [*cuts, len(text)]:
        at = min(len(text), at + cut)
        settled = FINDER.settle(text[:at])
        for one in findings:
            assert not one.start < settled.plain <= at or settled.plain <= one.start or one.end <= settled.plain
            if at < one.end:
                assert settled.plain <= one.start
