"""Masked texts come back, and streams say the same however they are cut."""

import re

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from heterodyne.safety.finding import Finding
from heterodyne.safety.pii.finder import PIIFinder
from heterodyne.safety.placeholders import NOTHING, Masker, StreamRestorer, mask
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.settled import settle
from heterodyne.safety.stream_check import StreamCheck
from heterodyne.safety.streamed_text import StreamedText
from heterodyne.safety.window import StreamWindow
from tests.support.examples import examples
from tests.support.guards import EMAIL, SECRET, all_of, plan

# Texts that are full of what looks like placeholders and of what is looked for.
PIECES = st.sampled_from(
    ["<", ">", "<EMAIL_1>", "<EMAIL_", "1>", "EMAIL", "_2", "a@b.c", "ab", "12", "123", " ", "\n", "ü"]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=24).map("".join)
RULES = st.sampled_from(["email", "phone", "us_ssn", "1", "ä"])
WORDS = st.sampled_from(
    ["ask ", "Jane Roe ", "at ", "12 Elm Street, ", "Springfield ", "about ", "4111 1111 1111 1111 ", "or ", "call ",
     "+49 30 901820 ", "and ", "jane@example.com ", "the ", "The ", "passport ", "A12345678 ", "May ", "in ", "Oslo. "]
)  # fmt: skip
NUMBER = re.compile(r"(?<!\d)\d{2,6}(?!\d)")
FINDER = PIIFinder()


@st.composite
def texts_with_findings(draw: st.DrawFn) -> tuple[str, list[Finding]]:
    text = draw(TEXTS)
    places = st.integers(0, len(text))
    spans = draw(st.lists(st.tuples(places, places, RULES), max_size=8))
    return text, [Finding(start=min(a, b), end=max(a, b), rule=rule) for a, b, rule in spans]


def chunks(draw: st.DrawFn, text: str) -> list[str]:
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=10)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(texts_with_findings())
def test_restoring_what_was_masked_gives_the_text_again(given_text):
    text, findings = given_text
    masked, placeholders = mask(text, findings)
    assert placeholders.restore(masked) == text


@given(texts_with_findings(), st.data())
def test_a_restored_stream_equals_the_restored_whole(given_text, data):
    text, findings = given_text
    masked, placeholders = mask(text, findings)
    answer = masked + data.draw(TEXTS) + "".join(placeholders.values)
    restorer = StreamRestorer(placeholders)
    streamed = [restorer.feed(chunk) for chunk in chunks(data.draw, answer)]
    assert "".join([*streamed, restorer.close()]) == placeholders.restore(answer)


def numbers(text: str) -> list[Finding]:
    return [Finding(start=match.start(), end=match.end(), rule="number") for match in NUMBER.finditer(text)]


@given(TEXTS, st.integers(7, 20), st.integers(1, 20), st.integers(1, 9), st.data())
def test_no_character_of_a_finding_leaves_before_its_report(text, window_characters, context, step, data):
    window = StreamWindow(numbers, window=window_characters, context=context, step=step)
    released = [window.feed(chunk) for chunk in chunks(data.draw, text)] + [window.close()]
    assert "".join(one.text for one in released) == text
    at, reported = 0, set()
    for one in released:
        reported |= {(at + finding.start, at + finding.end) for finding in one.findings}
        at += len(one.text)
    assert reported == {(finding.start, finding.end) for finding in numbers(text)}


LABEL = "RSA PRIVATE " + "KEY"
PLANTED = (
    SECRET,
    "eyJ" + "hbGciOiJSUzI1NiJ9" * 30 + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" * 20 + "." + "c2lnbmF0dXJl" * 8,
    f"-----BEGIN {LABEL}-----\n" + "MIIEpAIBAAKCAQEA7bqXz0\n" * 24 + f"-----END {LABEL}-----",
    "AKIA" + "IOSFODNN7EXAMPLE"[:16].replace("8", "7"),
    "4111 1111 1111 1111",
    "DE89 3704 0044 0532 0130 00",
    EMAIL,
)
BLOCKING = plan(
    {
        "no-secrets": GuardSettings(guard="secrets", action="block"),
        "private": GuardSettings(guard="pii", action="block", kinds=("credit_card", "iban", "email")),
        "topics": GuardSettings(guard="words", action="block", words=("project falcon",)),
    }
).output
PLAIN = st.lists(
    st.sampled_from(["the ", "answer ", "is ", "1. ", "See: ", "这是", "Well, ", "and\n", "so "]), max_size=30
)


@given(PLAIN.map("".join), st.sampled_from((*PLANTED, "Project  Falcon")), PLAIN.map("".join), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_no_character_of_what_is_blocked_leaves_a_stream_however_it_is_cut(before, planted, after, data):
    text = f"{before} {planted} {after}"
    # Digits right before or behind a number may make another number of it, also for who sees all of the text.
    assume(len(before) + 1 in {finding.start for rule in BLOCKING for finding in rule.look(text)})
    verdicts = []
    check = StreamCheck(BLOCKING, NOTHING, verdicts.append)
    sent = []
    for piece in chunks(data.draw, text):
        event = {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        sent += check(msgspec.json.encode(event))
    sent += all_of(check, msgspec.json.encode({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    choices = [msgspec.json.decode(one)["choices"][0] for one in sent]
    said = "".join(one["delta"].get("content", "") for one in choices)
    assert said == before + " "
    assert choices[-1]["finish_reason"] == "content_filter"
    assert len(verdicts) == 1


OVERLAPPING = plan(
    {
        "one": GuardSettings(guard="words", action="block", words=("project falcon",)),
        "other": GuardSettings(guard="words", action="block", words=("falcon report of may",)),
        "third": GuardSettings(guard="words", action="flag", words=("the project",)),
    }
).output


@given(PLAIN.map("".join), st.sampled_from(["project falcon report of may", "falcon report of may"]), st.data())
@settings(max_examples=examples(100), deadline=None)
def test_no_character_leaves_a_stream_where_what_two_policies_block_overlaps(before, planted, data):
    check, sent = StreamCheck(OVERLAPPING, NOTHING, lambda _: None), []
    for piece in chunks(data.draw, f"{before} {planted} and so on"):
        sent += check(msgspec.json.encode({"choices": [{"index": 0, "delta": {"content": piece}}]}))
    sent += all_of(check, b"[DONE]")
    choices = [msgspec.json.decode(one)["choices"][0] for one in sent if one != b"[DONE]"]
    assert "".join(one["delta"].get("content", "") for one in choices) == before + " "
    assert choices[-1]["finish_reason"] == "content_filter"


@given(st.lists(WORDS, max_size=12).map("".join), st.data())
@settings(max_examples=examples(60))
def test_personal_data_leave_a_stream_whole(text, data):
    window = StreamWindow(FINDER.find, settle=settle)
    released = [window.feed(chunk) for chunk in chunks(data.draw, text)] + [window.close()]
    assert "".join(one.text for one in released) == text
    at, inside = 0, set()
    for one in released:
        inside |= set(range(at + 1, at + len(one.text)))
        at += len(one.text)
    for finding in FINDER.find(text):
        assert set(range(finding.start + 1, finding.end)) <= inside


RUNS = st.lists(  # of characters that tokens are made of, so that nothing ends within
    st.sampled_from(
        ["aB3/x9Qz" * 9, "-", ":", "/4111111111111111/", "abcdefgh" * 40, f":{EMAIL}:", "#", "10.0.0.7/", "word",
         "x.y.z/", f":{PLANTED[1]}:", "0" * 30, ":DE89370400440532013000:"]
    ),
    min_size=10,
    max_size=60,
).map("".join)  # fmt: skip
EVERY_KIND = plan(
    {
        "private": GuardSettings(
            guard="pii", action="mask", kinds=("credit_card", "iban", "email", "ip_address", "url")
        ),
        "no-secrets": GuardSettings(guard="secrets", action="mask"),
    }
).output


@given(RUNS, st.integers(1, 160))
@settings(max_examples=examples(60), deadline=None)
def test_a_run_is_masked_alike_whether_it_comes_at_once_or_in_pieces(run, size):
    said = []
    for step in (len(run), size):
        text = StreamedText(EVERY_KIND, NOTHING, Masker(), lambda _: None, where="content")
        pieces = [text.feed(run[at : at + step]) for at in range(0, len(run), step)]
        said.append("".join((*pieces, text.feed(" and so on"), text.close())))
    assert said[0] == said[1]
