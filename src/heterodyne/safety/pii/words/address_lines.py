"""Parts of addresses that tell alone: a flat on a line of its own, and the post offices of American forces."""

import re
from typing import Final

from heterodyne.safety.finding import Finding

SCORE: Final = 0.86
# Behind a line with the number of a house, at its start or end; what quotes or lists lines may stand before each.
FLAT_LINE: Final = re.compile(
    r"^[^\w\n]{0,8}((?:[0-9][^\n]{2,40}|[^\W\d_][^\n]{1,40}[0-9][a-z]?)\n[^\w\n]{0,8}"
    r"(?:apt|apartment|suite|ste|flat)\.? #?[0-9]{1,5}[a-z]?)(?=[ \t]*(?:[\n,]|$))",
    re.IGNORECASE | re.MULTILINE,
)
MILITARY: Final = re.compile(
    r"\b(?:(?:us[ns]s|usnv|uss|uscgc|psc|cmr|unit) [^\n,]{1,40}(?:, ?box [0-9]{1,6})?[ ,\n]{1,3})?"
    r"[afd]po,? a[aep],? [0-9]{5}(?:-[0-9]{4})?\b",
    re.IGNORECASE,
)
POST_OFFICES: Final = ("PO A", "PO, A", "po a", "po, a")


def address_lines(text: str) -> list[Finding]:
    """Both kinds."""
    places = []
    if "\n" in text:
        places += [match.span(1) for match in FLAT_LINE.finditer(text)]
    if any(office in text for office in POST_OFFICES):
        places += [match.span() for match in MILITARY.finditer(text)]
    return [Finding(start=start, end=end, rule="street_address", score=SCORE) for start, end in places]
