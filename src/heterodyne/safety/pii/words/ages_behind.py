"""Ages behind somebody's name: Jane is 34, Jane Roe (34), Jane, aged 34."""

import re
from typing import Final

from heterodyne.safety.finding import Finding

BEHIND: Final = re.compile(
    r"(?:,? (?:is|was|turned|turns|just turned|is now|is only|is already|will be|will turn) | \(|,? aged?:? )"
    r"(?P<age>1[01][0-9]|[1-9]?[0-9])(?=\)|[.,;!?](?![0-9])|\n|$| (?:now|when|and|but|today|already|years|year)\b)"
)


def ages_of(text: str, people: list[Finding]) -> list[Finding]:
    """What is said of people found before."""
    ages = (BEHIND.match(text, one.end) for one in people if one.rule == "person")
    return [
        Finding(start=age.start("age"), end=age.end("age"), rule="age", score=0.7) for age in ages if age is not None
    ]
