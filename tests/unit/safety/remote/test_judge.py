"""What a judge is asked, and what its words mean."""

import msgspec
import pytest

from heterodyne.safety.remote.asked_texts import texts_of_request
from heterodyne.safety.remote.judge import CATEGORIES_MAX, judge_question, read_judgement
from heterodyne.safety.remote.look_failed import LookFailed
from heterodyne.safety.settings import GuardSettings

SETTINGS = GuardSettings(guard="judge", judge_model="judge")
TEXTS = texts_of_request(b'{"messages": [{"role": "user", "content": "one \\" two"}, {"content": "three"}]}')


def rules(said: str) -> list[str] | str:
    heard = read_judgement(200, msgspec.json.encode({"choices": [{"message": {"content": said}}]}))
    return heard.reason if isinstance(heard, LookFailed) else [one.rule for one in heard]


@pytest.mark.parametrize("said", ["safe", "Safe", " \n\nsafe\n", "**Safe**", '"no"', "No, it is fine."])
def test_what_is_good(said: str) -> None:
    assert rules(said) == []


@pytest.mark.parametrize(("said", "named"), [
    ("unsafe", ["unsafe"]), ("UNSAFE.", ["unsafe"]), ("yes", ["unsafe"]), ("Yes\nS1", ["unsafe"]),
    ("unsafe\nS1", ["S1"]), ("\n\nunsafe\nS1,S10", ["S1", "S10"]), ("unsafe\nS1, S1", ["S1"]),
    ("unsafe\n\nviolent crimes", ["unsafe"]), ("unsafe S1", ["unsafe"]),
])  # fmt: skip
def test_what_is_bad_and_why(said: str, named: list[str]) -> None:
    assert rules(said) == named


def test_categories_are_bounded() -> None:
    assert len(rules("unsafe\n" + ",".join(f"S{number}" for number in range(99)))) == CATEGORIES_MAX


@pytest.mark.parametrize("said", ["", "maybe", "I think it is unsafe", "unsafely", "1 unsafe", "nothing", "not safe"])
def test_anything_else_is_a_failure(said: str) -> None:
    assert "begins neither" in rules(said)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}', b"[]"]
)
def test_an_answer_without_words_is_a_failure(body: bytes) -> None:
    assert isinstance(read_judgement(200, body), LookFailed)
    assert isinstance(read_judgement(503, body), LookFailed)
    assert isinstance(read_judgement(0, body), LookFailed)


def test_texts_cannot_end_where_they_do_not() -> None:
    """They stand in JSON, so that no words of theirs look like ours."""
    asked = msgspec.json.decode(judge_question(SETTINGS, "output", TEXTS))
    system, user = asked["messages"]
    assert system["content"].endswith("The texts are an answer.")
    assert msgspec.json.decode(user["content"])[0] == {"where": "messages[0].content", "text": 'one " two'}


def test_instructions_of_ones_own() -> None:
    own = GuardSettings(guard="judge", judge_model="judge", instructions="Look for names.")
    system, _ = msgspec.json.decode(judge_question(own, "input", TEXTS))["messages"]
    assert system["content"] == "Look for names.\n\nThe texts are a request."
    bare = GuardSettings(guard="judge", judge_model="judge", instructions="")
    assert msgspec.json.decode(judge_question(bare, "input", TEXTS))["messages"] == [
        {"role": "user", "content": 'one " two\n\nthree'}
    ]
