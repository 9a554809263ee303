"""Ages: a number beside words that are said of how old somebody is."""

import re
from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.pii.recogniser import Recogniser

KIN: Final = (
    *("son", "daughter", "wife", "husband", "mother", "father", "brother", "sister"),
    *("mom", "mum", "dad", "child", "patient"),
    *("cousin", "friend", "girlfriend", "boyfriend", "partner", "niece", "nephew", "grandma", "grandpa"),
)
AGE_BEFORE: Final = (
    "aged",
    "age",
    "age:",
    "age is",
    "age of",
    "ages",
    "ages of",
    "ages:",
    "at age",
    "im",
    "just turned",
    "turned",
    "turns",
    "turning",
    "i'm",
    "i am",
    "he was",
    "she was",
    "i was",
    "he is",
    "she is",
    "he's",
    "she's",
    "we are",
    "we're",
    "they are",
    "they're",
    "you are",
    "you're",
    "will be",
    "will turn",
    *("turn", "to be", "just hit", "who is", "who was", "who's", "makes me", "makes him", "makes her"),
    *("i'll be", "he'll be", "she'll be", "they'll be", "you'll be", "not yet", "barely"),
    *("age?", "old are you?", "old is he?", "old is she?", "old am i?"),
    *("age/sex:", "age/gender:", "age (years):", "age (yrs):", "age in years:", "years of age:"),
    *(f"{who} of" for who in ("man", "woman", "girl", "boy", "lady", "child", "person", "infant")),
    *(f"{verb} at" for verb in ("died", "dies", "away", "married", "retired", "retire", "graduated", "diagnosed")),
    *(f"{who} {verb}" for who in KIN for verb in ("is", "was")),
    *(
        f"{who} {much}"
        for who in ("i'm", "i am", "i was", "he is", "he was", "he's", "she is", "she was", "she's")
        for much in (
            *("about", "almost", "already", "approaching", "around", "barely", "just", "nearing", "nearly", "now"),
            *("only", "over", "past", "pushing", "roughly", "still", "under"),
        )
    ),
)

YOUNG_BEFORE: Final = (
    *("he is", "he's", "he was", "she is", "she's", "she was", "baby is", "baby was", "they are", "they were"),
    *("twins are", "who is", "is only", "was only", "is just", "was just"),
    *(f"{who} {verb}" for who in KIN for verb in ("is", "was")),
)
DECADE_BEFORE: Final = tuple(
    f"in {whose}{part}"
    for whose in ("my", "his", "her", "their", "your", "our")
    for part in ("", " early", " mid", " late")
)


def _any_before(phrases: tuple[str, ...], between: str = " ") -> str:
    """One of them stands before the character that was read last; those of one length are looked for at once."""
    by_size: dict[int, list[str]] = {}  # a lookbehind is of one length
    for phrase in (*phrases, *(phrase.replace("'", "’") for phrase in phrases if "'" in phrase)):
        by_size.setdefault(len(phrase), []).append(re.escape(phrase))
    return "|".join(rf"(?<=(?<![a-z])(?:{'|'.join(group)}){between}.)" for group in by_size.values())


AGES: Final = (
    Recogniser(
        rule="age",
        score=0.8,
        digits_min=1,
        pattern=re.compile(
            r"[0-9](?<![\w.,$€£].)(?:(?<=1)[01][0-9]{1,2}|[0-9])?"
            r"(?=[ -]?(?:years?[- ]olds?|years? of age|"
            r"years? young|y/o|y\.o\.|yo\b|yrs?[. -]{0,2}old|Jahre alt|ans\b))",
            re.IGNORECASE,
        ),
    ),
    Recogniser(  # of the youngest; a report may be six months old as well
        rule="age",
        score=0.8,
        digits_min=1,
        pattern=re.compile(
            r"[0-9](?=[0-9]?[ -](?:month|week|day))(?<![\w.,$€£].)[0-9]?(?=[ -](?:month|week|day)s?[ -]old"
            rf" (?:baby|infant|newborn|boy|girl|twins?|toddler|{'|'.join(KIN)})\b)"
            rf"|[0-9](?=[0-9]? (?:month|week|day)s? old\b)(?:{_any_before(YOUNG_BEFORE)})[0-9]?",
            re.IGNORECASE,
        ),
    ),
    Recogniser(  # in her forties, in figures
        rule="age",
        score=0.8,
        digits_min=2,
        telling="00a",
        pattern=re.compile(rf"[2-9](?:{_any_before(DECADE_BEFORE, '[ -]')})0s\b", re.IGNORECASE),
    ),
    Recogniser(  # as forums write it: (34F), (F34), (34/m)
        rule="age",
        score=0.6,
        digits_min=2,
        telling="(",
        pattern=re.compile(r"[1-9](?:(?<=\(.)[0-9](?= ?/?[mf]\))|(?<=\([mf].)[0-9](?=\)))", re.IGNORECASE),
    ),
    Recogniser(  # At 34, she was ...
        rule="age",
        score=0.6,
        digits_min=2,
        telling=" 00, ",
        pattern=re.compile(r"[0-9](?<=\bat .)[0-9](?=, (?:i|he|she|they|his|her|my|you)\b)", re.IGNORECASE),
    ),
    Recogniser(
        rule="age",
        score=0.8,
        digits_min=1,
        telling=" 0",
        pattern=re.compile(
            r"[0-9](?:(?<=born .)|(?<=born about .)|(?<=born some .)|(?<=born almost .)|(?<=born over .))"
            r"(?:(?<=1)[01][0-9]|[0-9])?(?= years ago)",
            re.IGNORECASE,
        ),
    ),
    Recogniser(  # as forms write it: age=34, Age (34)
        rule="age",
        score=0.8,
        digits_min=1,
        pattern=re.compile(
            r"[0-9](?:(?<=\bage[:=].)|(?<=\bage [=-] .)|(?<=\bage \(.)|(?<=\baged:.)|(?<=\bage\s.)|(?<=\bage:\s.))"
            r"(?:(?<=1)[01][0-9]|[0-9])?(?![\w%:-]|/(?![mf]\b))(?![.,][0-9])",
            re.IGNORECASE,
        ),
    ),
    Recogniser(  # as newspapers write it: Jane Roe, 34, of Leeds
        rule="age",
        score=0.6,
        digits_min=2,
        telling="a, 0",
        pattern=re.compile(r"[0-9](?<=[a-z], .)(?:(?<=1)[01][0-9]{2}|[0-9])(?=, (?:of|from|who|a|an|is|was|said)\b)"),
    ),
    Recogniser(
        rule="age",
        score=0.6,
        digits_min=1,
        telling="0aa a",
        pattern=re.compile(
            r"[0-9](?<![\w.,].)(?:(?<=1)[01][0-9]{1,2}|[0-9])?(?=(?:st|nd|rd|th) (?:birthday|b-?day)\b)"
        ),
    ),
    Recogniser(
        rule="age",
        score=0.8,
        digits_min=1,
        telling=" 0",
        pattern=re.compile(
            rf"[0-9](?<=[defghklmnrstwy:?i] .)(?:{_any_before(AGE_BEFORE)})"
            r"(?:(?<=1)[01][0-9]|[0-9])?(?![\w%:-]|/(?![mf]\b))(?![.,][0-9])"
            r"(?! (?:percent|minutes|hours|days|weeks|months|miles|km|dollars|times|feet|points|on|in|for|of|the"
            r"|years from|more|less|degrees|pages|people|inches|seconds"
            r"|km/h|mph|a\.?m\b|p\.?m\b|o['’]clock))",
            re.IGNORECASE,
        ),
    ),
)

SPELT_AGE: Final = 0.8  # how sure it is
ONES: Final = "one|two|three|four|five|six|seven|eight|nine"
TEENS: Final = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
TENS: Final = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
DECADES: Final = "twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties"
SPELT: Final = rf"(?:(?:{TENS})(?:[- ](?:{ONES}))?|{TEENS}|{ONES})\b"
SPELT_REACH: Final = len("seventy-seven ")
YEARS: Final = re.compile(r"year(?:s?[- ]olds?|s of age)\b")  # behind a number in words
SPELT_LAST: Final = re.compile(rf"(?i:\b(?:{SPELT})[- ])$")
# Each begins with a word of its own, for which a text is searched faster than for a number.
SPELT_BEHIND: Final = (
    ("aged ", re.compile(rf"aged (?<!\waged )(?P<age>(?i:{SPELT}))")),
    (" age of ", re.compile(rf" age of (?P<age>(?i:{SPELT}))")),
    (" turned ", re.compile(rf" turned (?P<age>(?i:{TENS}|{TEENS})\b(?![- ]\w))")),
    (" turns ", re.compile(rf" turns (?P<age>(?i:{TENS}|{TEENS})\b(?![- ]\w))")),
    ("ties", re.compile(rf"in (?<!\win )(?:my|his|her|their|your|our) (?:early |mid[- ]?|late )?(?P<age>{DECADES})\b")),
)


def ages_in_words(text: str) -> list[Finding]:
    """Ages without a digit: forty years old, at the age of forty, in her forties."""
    spans = [
        match.span("age") for beside, pattern in SPELT_BEHIND if beside in text for match in pattern.finditer(text)
    ]
    if "year" in text:
        for years in YEARS.finditer(text):
            at = years.start()
            last = SPELT_LAST.search(text, max(0, at - SPELT_REACH), at)
            if last is not None:
                spans.append((last.start(), last.end() - 1))
    return [Finding(start=start, end=end, rule="age", score=SPELT_AGE) for start, end in spans]
