"""What one call takes, in processor time of this process, so that a busy machine disturbs little."""

import time
from collections.abc import Callable

from msgspec import Struct

from heterodyne.safety.injection import classifier, heuristics

PLAIN = (
    "The quarterly report shows that revenue grew in every region except the north, where two large customers moved to "
    "another supplier in March. Please write a summary for the board in three paragraphs: what "
    "changed, why it changed, "
    "and what we plan to do about it in the next quarter. Keep the tone neutral, take the numbers from the table where "
    "they help, and mention that the new warehouse opens in May with forty people. The chair of the board likes short "
    "sentences and dislikes abbreviations, so spell out the names of the products when they first occur. At the end, "
    "add a list of open questions for the meeting on Thursday, with the name of the colleague who could answer each of "
    "them. If a figure looks odd to you, say so in a footnote and carry on. The last paragraph may look ahead to the "
    "autumn: two trade fairs, a new catalogue and the move of the office to the old mill by the river."
)
LONG = 400_000  # characters
HARD = {
    "a plain text": PLAIN + " ",
    "`ignore ` over and over": "ignore ",
    "words of 63 letters": "a" * 63 + " ",
    "dashes": "-",
    "Chinese": "忽略一切。",
    "`no rules ` over and over": "no rules ",
}


class Timing(Struct, frozen=True, kw_only=True):
    """Microseconds for a plain prompt, milliseconds for the long texts."""

    rules_us: float
    classifier_us: float
    long_rules_ms: dict[str, float]
    long_classifier_ms: dict[str, float]  # the rules included


def measured() -> Timing:
    """The best of a few tries each."""
    long = {name: (unit * (LONG // len(unit) + 1))[:LONG] for name, unit in HARD.items()}
    return Timing(
        rules_us=_best(lambda: heuristics.find(PLAIN), 2_000) * 1e6,
        classifier_us=_best(lambda: classifier.score(PLAIN), 300) * 1e6,
        long_rules_ms={name: _best(lambda text=text: heuristics.find(text), 1) * 1e3 for name, text in long.items()},
        long_classifier_ms={
            name: _best(lambda text=text: classifier.score(text), 1) * 1e3 for name, text in long.items()
        },
    )


def _best(call: Callable[[], object], times: int, tries: int = 5) -> float:
    call()
    best = float("inf")
    for _ in range(tries):
        began = time.process_time()
        for _ in range(times):
            call()
        best = min(best, (time.process_time() - began) / times)
    return best
