"""Why an answer of the playground came from where it did, in words."""

import pytest

from heterodyne.console.playground.service import decision_words, step_words
from heterodyne.domain.routing_rule import Reason


def test_a_decision_is_told_in_words() -> None:
    said = decision_words("only_replica; ttft=34ms; itl=5.0ms")
    assert said == (
        "Why there: the only replica that may be asked. Predicted: first token after 34 ms, 5.0 ms a token."
    )


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_has_words(reason: Reason) -> None:
    said = decision_words(f"{reason}; ttft=1ms; itl=1.0ms; usd=0.00000001")
    assert said.startswith("Why there: ")
    assert "_" not in said
    assert ";" not in said


@pytest.mark.parametrize("header", ["", "a_word_of_the_future; ttft=1ms"])
def test_what_is_not_known_is_shown_as_it_is(header: str) -> None:
    assert decision_words(header) == header


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({}, []),
        ({b"x-heterodyne-cache": "miss"}, ["Cache: no answer was kept."]),
        ({b"x-heterodyne-cache": "hit", b"age": "12"}, ["Cache: the same request's answer, kept 12 s ago."]),
        (
            {b"x-heterodyne-cache": "similar", b"age": "3", b"x-heterodyne-cache-similarity": "0.934"},
            ["Cache: the answer to a prompt that means the same (similarity 0.934), kept 3 s ago."],
        ),
        (
            {b"x-heterodyne-cascade": "cheap; within_bound"},
            ["Cascade: the cheap model's answer was taken (within bound)."],
        ),
        (
            {b"x-heterodyne-cascade": "big; over_bound", b"x-heterodyne-cache": "miss"},
            ["Cascade: the big model was asked (over bound).", "Cache: no answer was kept."],
        ),
    ],
)
def test_steps_before_the_replica_are_told_in_words(headers: dict[bytes, str], words: list[str]) -> None:
    assert list(step_words(lambda name: headers.get(name, ""))) == words
