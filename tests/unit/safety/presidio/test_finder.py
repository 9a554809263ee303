"""Presidio, where it is installed, and what is said where it is not."""

from importlib.util import find_spec

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.safety.policy import rule_of
from heterodyne.safety.presidio import finder
from heterodyne.safety.settings import GuardSettings

INSTALLED = pytest.mark.skipif(
    find_spec(finder.PACKAGE) is None,
    reason="the extra `presidio` is not installed: pip install 'heterodyne[presidio]'",
)
TEXT = "Mail jane.doe@example.com or call: my phone number is 212-555-5555. The card is 4111 1111 1111 1111."


def find(text: str = TEXT, **settings: object) -> dict[str, str]:
    found = rule_of("one", GuardSettings(guard="presidio", **settings)).look(text)
    return {one.rule: text[one.start : one.end] for one in found}


def test_where_it_is_not_installed_the_command_is_told(monkeypatch) -> None:
    monkeypatch.setattr(finder, "PACKAGE", "no_such_package")
    with pytest.raises(InvalidSpec, match=r"pip install 'heterodyne\[presidio\]'"):
        rule_of("one", GuardSettings(guard="presidio"))


@pytest.mark.parametrize(("settings", "words"), [
    ({"spacy_model": "en_core_web_none"}, "python -m spacy download en_core_web_none"),
    ({"spacy_model": "../model"}, "not installed"),
    ({"language": "english"}, "two letters"),
    ({"kinds": ("email_address",)}, "EMAIL_ADDRESS"),
])  # fmt: skip
def test_what_is_malformed_is_refused(monkeypatch, settings: dict[str, object], words: str) -> None:
    monkeypatch.setattr(finder, "PACKAGE", "msgspec")
    with pytest.raises(InvalidSpec) as refused:
        rule_of("one", GuardSettings(guard="presidio", **settings))
    assert words in str(refused.value)


@INSTALLED
def test_its_patterns_find_without_a_model() -> None:
    found = find()
    assert found["email_address"] == "jane.doe@example.com"
    assert found["phone_number"] == "212-555-5555"
    assert found["credit_card"] == "4111 1111 1111 1111"
    assert set(find(kinds=("CREDIT_CARD",))) == {"credit_card"}


@INSTALLED
def test_a_word_nearby_makes_it_surer() -> None:
    look = rule_of("one", GuardSettings(guard="presidio", kinds=("PHONE_NUMBER",))).look
    (near,), (far,) = look("my phone is 212-555-5555"), look("the part is 212-555-5555")
    assert near.score > far.score
    assert find("the part is 212-555-5555", kinds=("PHONE_NUMBER",), score_min=0.6) == {}


@INSTALLED
def test_a_long_text_is_looked_at_in_pieces(monkeypatch) -> None:
    analyzer = __import__("heterodyne.safety.presidio.analyzer", fromlist=["Analyzer"])
    monkeypatch.setattr(analyzer, "PIECE_CHARS", 50)
    monkeypatch.setattr(analyzer, "OVERLAP_CHARS", 30)
    for words in range(12):
        assert find("word " * words + TEXT, kinds=("CREDIT_CARD",)) == {"credit_card": "4111 1111 1111 1111"}


@INSTALLED
def test_an_entity_that_it_does_not_know_is_an_error() -> None:
    with pytest.raises(InvalidSpec, match="EMAIL_ADDRESS"):
        find(kinds=("EMAIL_ADDRES",))
