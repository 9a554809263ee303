"""Why an answer of the playground came from where it did, in words."""

import pytest

from heterodyne.console.playground.service import decision_words
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
