"""A stream is held back until nothing in it can be part of a finding."""

import re
from collections.abc import Callable, Iterable

import pytest

from heterodyne.safety.finding import Finding, Released
from heterodyne.safety.overlaps import resolve
from heterodyne.safety.piece_looks import PieceLooks
from heterodyne.safety.pii.finder import PIIFinder
from heterodyne.safety.settled import settle
from heterodyne.safety.window import (
    FINDINGS_MAX,
    HELD_TIMES,
    PIECE_CHARACTERS,
    SPACES_MAX,
    WINDOW_CHARACTERS,
    StreamWindow,
)

NUMBER = re.compile(r"\b[0-9]{4}\b")


def numbers(text: str) -> list[Finding]:
    return [Finding(start=match.start(), end=match.end(), rule="number") for match in NUMBER.finditer(text)]


def starts(said: Iterable[Released]) -> list[int]:
    """Of findings, in all that was said."""
    at, found = 0, []
    for one in said:
        found += [at + finding.start for finding in one.findings]
        at += len(one.text)
    return found


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


def looks_at(seen: list[int]) -> PieceLooks:
    """The numbers of a text, and how much of it each near look was shown."""

    def near(text: str) -> list[Finding]:
        seen.append(len(text))
        return numbers(text)

    return PieceLooks(near, lambda _: [], resolve)


def test_a_long_run_is_looked_at_in_pieces_as_it_comes():
    seen: list[int] = []
    window = StreamWindow(numbers, window=64, context=16, run_max=8192, settle=settle, in_pieces=looks_at(seen))
    run = "ab/1234/cd" * 600
    assert "".join(window.feed(run[at : at + 32]).text for at in range(0, len(run), 32)) == ""
    said = [window.feed(" and so on")]
    while not window.is_empty:
        said.append(window.close())
    assert "".join(one.text for one in said) == f"{run} and so on"
    assert starts(said) == [match.start() for match in NUMBER.finditer(run)]
    assert max(seen) <= 16 + PIECE_CHARACTERS + 2 * 64
    assert sum(seen) < 2 * len(run)


def test_a_run_that_is_as_long_as_may_be_is_let_go():
    window = StreamWindow(numbers, window=64, run_max=1024, settle=settle)
    run = "a-1234-" * 400
    said = [window.feed(run[at : at + 50]) for at in range(0, len(run), 50)]
    assert sum(1 for one in said if one.text) == 2
    assert "".join(one.text for one in (*said, window.close())) == run


def test_white_space_without_end_is_not_held():
    for space in (" ", "\n", "\t", " \n"):
        window = StreamWindow(PIIFinder().find, run_max=16384, settle=settle)
        said = [window.feed(text) for text in ("well,", *(space for _ in range(2000)), "so")]
        held = len("".join(("well,", space * 2000, "so"))) - sum(len(one.text) for one in said)
        assert held <= WINDOW_CHARACTERS + SPACES_MAX
        assert "".join(one.text for one in (*said, window.close())) == f"well,{space * 2000}so"


def test_of_very_many_findings_some_are_reported_with_each_chunk():
    window = StreamWindow(numbers, window=64, context=16, run_max=16384, settle=settle, in_pieces=looks_at([]))
    run = "/1234" * 2000
    said = [window.feed(run[at : at + 50]) for at in range(0, len(run), 50)]
    said += [window.feed(" word") for _ in range(20)]
    assert max(len(one.findings) for one in said) == FINDINGS_MAX
    while not window.is_empty:
        said.append(window.close())
    assert starts(said) == [match.start() for match in NUMBER.finditer(run)]
    assert len(said[-1].findings) == 0


def test_the_end_of_a_stream_is_told_in_parts_where_very_much_was_found() -> None:
    looks: list[int] = []
    window = StreamWindow(numbers, window=64, context=16, run_max=16384, settle=settle, in_pieces=looks_at(looks))
    run = "/1234" * 2000
    assert "".join(window.feed(run[at : at + 50]).text for at in range(0, len(run), 50)) == ""
    before, said = len(looks), []
    while not window.is_empty:
        said.append(window.close())
    assert "".join(one.text for one in said) == run
    assert [len(one.findings) for one in said] == [FINDINGS_MAX] * (2000 // FINDINGS_MAX) + [2000 % FINDINGS_MAX]
    assert len(looks) == before + 1, "what is known at its end is not looked for again"


def phrases(*every: str) -> Callable[[str], list[Finding]]:
    def look(text: str) -> list[Finding]:
        return [
            Finding(start=match.start(), end=match.end(), rule=phrase)
            for phrase in every
            for match in re.finditer(f"(?={phrase})", text)
            for match in [re.compile(phrase).match(text, match.start())]
            if match is not None
        ]

    return look


def masked(window: StreamWindow, chunks: Iterable[str]) -> str:
    """What was said, with a mark for each character of a finding."""
    said = [window.feed(chunk) for chunk in chunks]
    while not window.is_empty:
        said.append(window.close())
    made = ""
    for one in said:
        hidden = {at for finding in one.findings for at in range(finding.start, finding.end)}
        made += "".join("#" if at in hidden else character for at, character in enumerate(one.text))
    return made


@pytest.mark.parametrize("times", [1, 7, 40])
def test_of_findings_that_overlap_no_character_is_sent(times: int) -> None:
    text = f"well, {'aaaa bbbb cccc ' * times}and {'so on ' * 30}"
    hidden = re.sub("[abc]{4}[abc ]*[abc]{4}", lambda match: "#" * len(match[0]), text)
    for size in range(1, 70):
        window = StreamWindow(phrases("aaaa bbbb", "bbbb cccc", "cccc aaaa"), window=16, context=8, step=1)
        assert masked(window, (text[at : at + size] for at in range(0, len(text), size))) == hidden


def test_findings_that_overlap_without_end_are_not_held_without_end() -> None:
    window, held = StreamWindow(phrases("a b", "b a"), window=16, context=8, step=1), 0
    for _ in range(200):
        held += len("a b ") - len(window.feed("a b ").text)
        assert held <= (HELD_TIMES + 2) * 16
