"""How likely a run of capitalised words is a company: by the form of company in its name, or by work and offices."""

import re
from typing import Final

from heterodyne.safety.pii.words.company_forms import FORMS
from heterodyne.safety.pii.words.runs import Run
from heterodyne.safety.pii.words.word_set import phrase_set

BEFORE: Final = phrase_set(
    """
    work for, works for, worked for, working for, work at, works at, worked at, working at, employed by, employed at
    job at, company, company:, company called, firm, employer:, employer, startup, agency, ceo of, cto of, cfo of
    founder of, employee of, president of, director of, chairman of, joined, a year at, subsidiary of, acquired by
    """
)
AFTER: Final = re.compile(
    r" (?:office|employees?|headquarters|shares|stock|ceo|is a (?:design|software|company|startup|"
    r"consulting|law)|announced|acquired|hired)\b",
    re.IGNORECASE,
)


def organisation_score(run: Run, text: str) -> float:
    """How sure."""
    if run.words[-1] in FORMS and len(run.words) > 1:
        return 0.8
    if run.before.ends_with(BEFORE) or AFTER.match(text, run.end) is not None:
        return 0.7
    return 0.0
