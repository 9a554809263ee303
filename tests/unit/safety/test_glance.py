"""What one quick look tells of a text, and that nothing is missed because of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.safety.glance import LONG_WORD, Glance
from heterodyne.safety.overlaps import resolve
from heterodyne.safety.pii.clusters import clusters
from heterodyne.safety.pii.finder import PIIFinder
from heterodyne.safety.pii.recogniser import THRESHOLD, matches
from heterodyne.safety.pii.registry import BY_WORDS_TOO, EVERYWHERE, LOCALES
from tests.unit.safety.pii.test_kinds import FOUND

IN_OTHER_WAYS_TOO = ("ip_address", "mac_address", *BY_WORDS_TOO)
RECOGNISERS = [one for pack in (EVERYWHERE, *LOCALES.values()) for one in pack if one.rule not in IN_OTHER_WAYS_TOO]
FINDERS = {
    threshold: PIIFinder({one.rule for one in RECOGNISERS}, threshold=threshold) for threshold in (THRESHOLD, 0.05)
}
EXAMPLES = st.sampled_from([text for _, text, _ in FOUND])
PIECES = st.sampled_from(
    ["1", "12 ", "a", "A", " ", "-", ".", ":", "passport ", "zip ", "tel ", "여권", "é", "0x", ", 3"]
)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [("Ab 12\t", "Aa 00 "), ("x_y-z.é", "a_a-a.a"), ("a@b=c?", "a!a!a!"), ("这 ½", "! !"), ("\ud800", "!")],
)
def test_a_text_has_a_kind_for_each_of_its_characters(text, kinds):
    assert Glance(text).kinds == kinds


def test_a_run_of_letters_and_digits_is_told():
    assert Glance("an id: " + "a1" * 7).has_run(LONG_WORD)
    assert not Glance("thirteen: " + "a1" * 6 + "-" + "a1" * 6).has_run(LONG_WORD)


@given(st.lists(EXAMPLES | PIECES, max_size=4).map("".join), st.sampled_from(sorted(FINDERS)))
def test_no_recogniser_misses_what_it_would_find_in_every_part_with_digits(text, threshold):
    glance = Glance(text)
    everything = [
        found
        for part in clusters(glance)
        for recogniser in RECOGNISERS
        if recogniser.digits_min <= part.digits
        for found in matches(recogniser, text, part.start, part.end, threshold)
    ]
    assert FINDERS[threshold].found_in(glance) == resolve(everything)
