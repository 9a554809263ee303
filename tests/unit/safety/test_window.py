"""A stream is held back until nothing in it can be part of a finding."""

import re

from heterodyne.safety.finding import Finding
from heterodyne.safety.pii.finder import PIIFinder
from heterodyne.safety.settled import settle
from heterodyne.safety.window import StreamWindow

NUMBER = re.compile(r"\b[0-9]{4}\b")


def numbers(text: str) -> list[Finding]:
    return [Finding(start=match.start(), end=match.end(), rule="number") for match in NUMBER.finditer(text)]


def test_nothing_leaves_while_it_is_within_the_window():
    window = StreamWindow(numbers, window=8, step=1)
    assert window.feed("pin 12").text == ""
    assert window.feed("34 is").text == "pin"
    released = window.feed(" mine, yes")
    assert released.text.startswith(" 1234")
    assert [released.text[one.start : one.end] for one in released.findings] == ["1234"]


def test_the_rest_comes_at_the_end_with_its_findings():
    window = StreamWindow(numbers, window=64)
    window.feed("code 9876")
    released = window.close()
    assert (released.text, [one.start for one in released.findings]) == ("code 9876", [5])
    assert window.close().text == ""


def test_a_look_waits_for_enough_new_characters():
    looks = []
    window = StreamWindow(lambda text: looks.append(text) or [], window=4, step=10)
    for character in "abcdefghijklmnopqrstuvwxyz":
        window.feed(character)
    assert len(looks) == 2


def test_a_finding_that_fills_the_window_is_reported_when_it_does():
    window = StreamWindow(
        lambda text: [Finding(start=0, end=len(text), rule="long")] if text.startswith("x") else [], window=4, step=1
    )
    assert window.feed("xx").text == ""
    released = window.feed("xxxx")
    assert (released.text, len(released.findings)) == ("xxxxxx", 1)


def test_plain_words_leave_at_once_where_the_end_cannot_begin_a_finding():
    window = StreamWindow(PIIFinder().find, settle=settle)
    assert window.feed("the answer is ").text == "the answer is"
    assert window.feed("below and ask Jo").text == " below and ask"
    assert window.feed("rdan Fi").text == ""
    released = window.close()
    assert [(one.rule, released.text[one.start : one.end]) for one in released.findings] == [("person", "Jordan Fi")]


def test_what_was_sent_is_context_for_what_follows():
    window = StreamWindow(PIIFinder(["us_passport"]).find, settle=settle)
    sent = window.feed("my passport is ").text + window.feed("A12345678 ").text
    released = window.close()
    assert sent == "my passport is"
    assert len(released.findings) == 1
