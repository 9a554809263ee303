"""How likely a run of capitalised words is a place, and which of its words."""

import re
from typing import Final

from heterodyne.safety.pii.words.before import Before
from heterodyne.safety.pii.words.place_names import AMBIGUOUS_PLACES, PLACES
from heterodyne.safety.pii.words.runs import Run
from heterodyne.safety.pii.words.word_set import word_set

PLACE_ENDINGS: Final = word_set(
    """
    burg burgh borough ville stad stadt dorf kirchen heim hausen hofen bach brück shire grad gorod ford bury chester
    cester mouth wick wich haven hafen pool minster abad pur pore nagar polis borg köping torp dalen vik havn hamn
    lahti järvi joki salmi iemi ingen berge stein feld wald field town ton land stan ham
    """
)
ENDING_SIZES: Final = tuple(sorted({len(ending) for ending in PLACE_ENDINGS}))
MOVING: Final = word_set(
    """
    travel travels traveling travelling traveled travelled trip fly flying flight flights flew drive drove driving move
    moves moved moving went going go returned return returning relocate relocated relocating visit journey sail sailed
    emigrated immigrated back arrived came come comes hail hails
    """
)
STAYING: Final = word_set(
    """
    live lives lived living based born located reside resides residing grew up raised office offices stay staying stayed
    arrive arrived arriving landed studied situated headquartered settled am are is city town village street place house
    home apartment hotel weather somewhere work works working job wedding conference holiday vacation
    """
)
ORIGIN: Final = word_set("originally come comes came hail hails am i'm is are imported shipped flew")
BEFORE: Final = word_set(
    "visit visiting visited visits northern southern eastern western central downtown city: country: location: state:"
)
PARTS: Final = word_set(
    "city town village state province capital streets mayor outskirts suburbs north south east west"
)
PREPOSITIONS: Final = word_set("in from to at near of around through via outside across within")
AFTER: Final = re.compile(r",? (?:is (?:a|the) (?:city|country|town)|bridge|airport|station|government)\b")


def place_score(run: Run, text: str) -> tuple[float, int, int]:
    """How sure, and the words of the run from and to which the place goes."""
    words = run.words
    count = len(words)
    for size in range(min(4, count), 0, -1):
        for first in range(count - size + 1):
            name = " ".join(words[first : first + size])
            known = name if name in PLACES else name.title() if name.isupper() and name.title() in PLACES else ""
            if known:
                return _of_known(known, run, text, first), first, first + size
    if count > 3:
        return 0.0, 0, 0
    before = run.before
    if _is_sure(before):
        return 0.66, 0, count
    if AFTER.match(text, run.end) is not None:
        return 0.6, 0, count
    if before.last in PREPOSITIONS:
        if _ends_like_place(words[-1].lower()):
            return 0.58, 0, count
        if words[0].isupper() and len(words[0]) > 4:
            return 0.53, 0, count
    return 0.0, 0, 0


def _ends_like_place(word: str) -> bool:
    """Whether a word ends as places do; an ending has at least two letters before it."""
    return any(word[-size:] in PLACE_ENDINGS for size in ENDING_SIZES if size <= len(word) - 2)


def _is_sure(before: Before) -> bool:
    """Whether only a place can follow: a way that leads there, or somebody's being there."""
    last, second = before.last, before.second
    if last in BEFORE:
        return True
    if last in ("to", "from", "into", "for") and second in ("here", "away", "over", "back"):
        return before.third in MOVING or second == "back"
    if last == "from":
        return second in MOVING or second in ORIGIN
    if last in ("to", "into", "for"):
        return second in MOVING
    if last in ("in", "at", "near", "outside"):
        return second in STAYING
    return last == "of" and second in PARTS


def _of_known(name: str, run: Run, text: str, first: int) -> float:
    if name not in AMBIGUOUS_PLACES:
        # In a longer run it is rather a part of another name: Paris Hilton, Boston Consulting Group.
        return 0.8 if name.count(" ") + 1 == len(run.words) else 0.55
    before = run.before
    if first == 0 and (_is_sure(before) or before.last in PREPOSITIONS):
        return 0.72
    if text.startswith(",", run.end) and text[run.end + 2 : run.end + 3].isupper():
        return 0.6
    return 0.3
