"""Postal codes by what stands beside them: a place before or behind, a region, or the lines of an address."""

import re
from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.pii.clusters import Cluster
from heterodyne.safety.pii.words.place_names import PLACES
from heterodyne.safety.pii.words.runs import UPPER

SCORE: Final = 0.7
BEHIND_NAME: Final = 0.6  # of a place that is on no list
PLACE_CHARACTERS: Final = 48  # of its name, with what stands before it
# As countries write them: BR and the US with more, PT, PL, SE and CZ, NL; four, five or six digits.
CODE: Final = (
    r"(?:[0-9]{5}(?:-[0-9]{3,4})?|[0-9]{4}-[0-9]{3}|[0-9]{2}-[0-9]{3}|[0-9]{3} [0-9]{2}|[0-9]{4} [A-Z]{2}|[0-9]{4}"
    r"|[0-9]{6})(?![\w-])(?![.,/:][0-9])(?!%)"
)
ALONE: Final = re.compile(rf"(?=[0-9])(?<=[ \n]){CODE}")
YEAR: Final = re.compile("(?:1[6-9]|20)[0-9]{2}")
WORD: Final = rf"[{UPPER}][\w'’-]*+"
# What may follow a code in a sentence. A noun would be what the number counts: in Berlin 3500 people.
GOES_ON: Final = re.compile(
    r"[ \t]*(?:[.,;:!?)\"']|\n|$| (?:a|and|are|as|at|but|by|for|from|he|i|in|is|it|of|on|or|she|since|that|the|they"
    r"|to|under|until|was|we|were|when|where|which|while|who|with)\b)"
)
PLACE_BEFORE: Final = re.compile(
    rf"(?:\b(?P<said>in|at|near|from|to|of) )?\b(?P<place>{WORD}(?: (?:(?:de|del|di|do|da|la|le|am|an der|im) )?{WORD})"
    r"{0,3}?)(?P<region>,? [A-Z]{2})?,? $"
)
PLACE_BEHIND: Final = re.compile(rf" (?P<place>{WORD}(?: {WORD})?)")
BEGINS: Final = re.compile(r"(?:^|\n|, ?|\bin )[ \t]*$", re.IGNORECASE)
# Lines that end an address: a place, perhaps a region, and a code that stands alone or behind them.
LAST_LINES: Final = re.compile(
    rf"(?:[ \t]{{0,8}},?(?:\n[ \t]{{0,8}}|[ \t])(?:{WORD}(?: {WORD}){{0,3}}|nan)){{0,3}}(?:[ \t]{{0,8}}\n)?[ \t]{{0,8}}"
    rf"(?P<code>{CODE}|[A-Z][0-9][A-Z] [0-9][A-Z][0-9]|[0-9]{{3}})(?=[ \t]{{0,8}}(?:\n|$))"
)


def codes_by_places(text: str, digits: list[Cluster], addresses: list[Finding]) -> list[Finding]:
    """Every code beside a place, and those in the lines that end an address."""
    lines = (LAST_LINES.match(text, one.end) for one in addresses)
    found = [_finding(*match.span("code"), SCORE) for match in lines if match is not None]
    for cluster in digits:
        if cluster.digits >= 4:
            for code in ALONE.finditer(text, cluster.start, cluster.end):
                score = _score(text, code)
                if score:
                    found.append(_finding(*code.span(), score))
    return found


def _score(text: str, code: re.Match[str]) -> float:
    """How sure it is that a group of digits is a postal code."""
    if YEAR.fullmatch(code[0]) is not None:
        return 0.0
    before = text[max(0, code.start() - PLACE_CHARACTERS) : code.start()]
    place = PLACE_BEFORE.search(before)
    if place is not None and GOES_ON.match(text, code.end()) is not None:
        if _is_known(place["place"]) or (place["region"] is not None and len(code[0]) >= 5):
            return SCORE
        if place["said"] is not None:
            return BEHIND_NAME
    behind = PLACE_BEHIND.match(text, code.end())
    return SCORE if behind is not None and BEGINS.search(before) is not None and _is_known(behind["place"]) else 0.0


def _is_known(place: str) -> bool:
    first = place.partition(" ")[0]
    return place in PLACES or place.title() in PLACES or first in PLACES


def _finding(start: int, end: int, score: float) -> Finding:
    return Finding(start=start, end=end, rule="postal_code", score=score)
