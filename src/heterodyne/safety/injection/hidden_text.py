"""Characters that a model reads and a person does not see: tags, zero-width characters, reversed directions."""

import re
from collections.abc import Iterator

from heterodyne.safety.finding import Finding

# Flags of England, Scotland and Wales are a black flag and tags; every other tag is hidden text.
_HIDDEN = re.compile(
    r"(?P<flag>\U0001f3f4[\U000e0020-\U000e007f]{1,8})"
    r"|(?P<tag_characters>[\U000e0000-\U000e007f]+)"
    # Joiners are part of emoji, Persian and Indic words; inside of Latin words they are there to break a match.
    r"|(?P<zero_width>(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\ufeff\u00ad]{1,64}(?=[A-Za-z]))"
    r"|(?P<bidirectional_override>[\u202d\u202e])"
    r"|(?P<variation_selectors>[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,})"
)
_SCORES = {
    "tag_characters": 0.95,
    "zero_width": 0.6,
    "bidirectional_override": 0.7,
    "variation_selectors": 0.9,
}


def find(text: str) -> Iterator[Finding]:
    """Runs of hidden characters in a text, in their order; an ASCII text has none and costs nothing."""
    if text.isascii():
        return
    for match in _HIDDEN.finditer(text):
        rule = match.lastgroup
        if rule is not None and rule != "flag":
            yield Finding(start=match.start(), end=match.end(), rule=rule, score=_SCORES[rule])
