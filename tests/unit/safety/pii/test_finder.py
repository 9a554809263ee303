"""The finder: what is asked for, what overlaps, and texts made to be slow."""

import time
from itertools import pairwise

import pytest

from heterodyne.safety.finding import Finding
from heterodyne.safety.overlaps import resolve
from heterodyne.safety.pii.finder import PIIFinder
from heterodyne.safety.pii.registry import DEFAULT_KINDS, KINDS
from heterodyne.safety.secrets import find_secrets

SIZE = 5_000
NOTHING_S = 0.05  # too short to compare


def test_only_kinds_that_are_asked_for_are_reported():
    text = "jane@example.com, 4111 1111 1111 1111"
    assert [finding.rule for finding in PIIFinder(["email"]).find(text)] == ["email"]


def test_only_locales_that_are_asked_for_are_reported():
    text = "PESEL 44051401359"
    assert [finding.rule for finding in PIIFinder(locales=["pl"]).find(text)] == ["pl_pesel"]
    assert PIIFinder(["pl_pesel"], locales=["us"]).find(text) == []


@pytest.mark.parametrize(("kinds", "locales"), [(["e-mail"], ["us"]), (["email"], ["xx"])])
def test_an_unknown_kind_or_locale_is_refused_by_its_name(kinds, locales):
    with pytest.raises(ValueError, match=r"e-mail|xx"):
        PIIFinder(kinds, locales)


def test_what_tells_little_is_found_on_request_only():
    on_request = KINDS - DEFAULT_KINDS
    assert on_request == {"date", "url", "organisation"}


def test_findings_are_in_order_and_do_not_overlap():
    text = "Jane Roe, 12 Elm Street, Springfield; jane@example.com; GB82 WEST 1234 5698 7654 32; +49 30 901820"
    findings = PIIFinder().find(text)
    assert [finding.rule for finding in findings] == ["person", "street_address", "email", "iban", "phone"]
    assert all(one.end <= other.start for one, other in pairwise(findings))


def test_the_surer_of_two_that_overlap_stands_and_then_the_longer():
    weak = Finding(start=0, end=9, rule="weak", score=0.5)
    sure = Finding(start=5, end=12, rule="sure", score=0.9)
    longer = Finding(start=20, end=30, rule="longer", score=0.5)
    shorter = Finding(start=22, end=25, rule="shorter", score=0.5)
    assert resolve([weak, shorter, longer, sure]) == [sure, longer]


def test_a_lower_threshold_reports_shapes_without_context():
    assert PIIFinder(["de_postal_code"]).find("20095") == []
    assert len(PIIFinder(["de_postal_code"], threshold=0.05).find("20095")) == 1


PIECES = [
    *("1", "1 ", "12-", "a", "A", "Ab ", "A. ", "a.", "a-", "@", "a@", "a@b.", ":", "::", "1:", "0x", "http://a."),
    *("+1", "00", "Street ", "1 A ", "(", "-----BEGIN PRIVATE KEY-----", "password=", "sk-", "eyJ", "de ", "\n", "1a"),
    *("born 1 ", "x@y.z1", "\ud800", "Ж", "名前1"),
]


@pytest.mark.parametrize("piece", PIECES)
def test_text_that_repeats_one_piece_is_read_in_linear_time(piece):
    finder = PIIFinder(KINDS, threshold=0.05)
    short_s, long_s = (_read_s(finder, piece * (size // len(piece))) for size in (SIZE, 4 * SIZE))
    assert long_s < max(10 * short_s, NOTHING_S)  # four times as much text; sixteen times as long would be quadratic


def _read_s(finder: PIIFinder, text: str) -> float:
    """CPU seconds, the lesser of two runs."""
    took = []
    for _ in range(2):
        began = time.process_time()
        finder.find(text)
        find_secrets(text)
        took.append(time.process_time() - began)
    return min(took)
