"""Dates of birth, ages, and dates at large. A date is personal when it is said to be somebody's birthday."""

import re
from typing import Final

from heterodyne.safety.pii.recogniser import Recogniser, words

MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
YEAR: Final = r"(?:1[89][0-9]{2}|20[0-9]{2})"
DAY: Final = r"(?:0?[1-9]|[12][0-9]|3[01])"
NUMBER: Final = r"(?:0?[1-9]|1[0-2])"
TIME: Final = r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"

FULL: Final = (
    rf"{YEAR}([-/.]){NUMBER}\1{DAY}{TIME}"
    rf"|{DAY}([-/.]){NUMBER}\2(?:{YEAR}|[0-9]{{2}})|{NUMBER}([-/.]){DAY}\3(?:{YEAR}|[0-9]{{2}})"
    rf"|{DAY}(?:st|nd|rd|th)?[- ](?:of )?{MONTH}\.?,?[- ]{YEAR}|{MONTH}\.? {DAY}(?:st|nd|rd|th)?,? {YEAR}"
)
PART: Final = (
    rf"{MONTH}[- ](?:{DAY}(?:st|nd|rd|th)?|{YEAR}|[0-9]{{2}})|{DAY}(?:st|nd|rd|th)?[- ]{MONTH}"
    rf"|{NUMBER}/{YEAR}|{NUMBER}/{DAY}|{DAY}/{NUMBER}"
)
BEGIN: Final = r"(?<!\w)(?<![0-9][-/.])"
FINISH: Final = r"(?!\w)(?![-/.][0-9])"
BIRTH: Final = words(
    "born",
    "birth",
    "birthday",
    "birthdate",
    "dob",
    "d.o.b",
    "date of birth",
    "geboren",
    "geburtsdatum",
    "né le",
    "née le",
    "nacido",
    "nacida",
    "nacimiento",
    "nato il",
    "nata il",
)

BIRTHS: Final = (
    Recogniser(
        rule="date_of_birth",
        score=0.0,
        digits_min=3,
        context=BIRTH,
        raised=0.9,
        pattern=re.compile(f"{BEGIN}(?:{FULL}){FINISH}", re.IGNORECASE),
    ),
)

DATES: Final = (
    Recogniser(
        rule="date",
        score=0.7,
        digits_min=3,
        pattern=re.compile(f"{BEGIN}(?:{FULL}){FINISH}", re.IGNORECASE),
    ),
    Recogniser(
        rule="date",
        score=0.55,
        digits_min=1,
        pattern=re.compile(f"{BEGIN}(?:{PART}){FINISH}", re.IGNORECASE),
    ),
    Recogniser(
        rule="date",
        score=0.3,
        digits_min=4,
        raised=0.55,
        context=words("in", "since", "year", "of", "founded", "from", "until", "before", "after", "during"),
        pattern=re.compile(rf"{BEGIN}{YEAR}{FINISH}"),
    ),
)

DATE_WORDS: Final = (
    Recogniser(
        rule="date",
        score=0.55,
        pattern=re.compile(
            r"\b(?:(?:last |next |this )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|yesterday|tomorrow"
            r"|(?<=in )(?:January|February|March|April|May|June|July|August|September|October|November|December))\b"
        ),
    ),
)

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
    *(f"{who} {verb}" for who in KIN for verb in ("is", "was")),
    *(
        f"{who} {much}"
        for who in ("i'm", "i am", "i was", "he is", "he was", "he's", "she is", "she was", "she's")
        for much in ("about", "almost", "already", "just", "nearly", "now", "only", "still")
    ),
)


def _any_before(phrases: tuple[str, ...]) -> str:
    """One of them stands before the character that was read last; those of one length are looked for at once."""
    by_size: dict[int, list[str]] = {}
    for phrase in (*phrases, *(phrase.replace("'", "’") for phrase in phrases if "'" in phrase)):
        by_size.setdefault(len(phrase), []).append(phrase)
    return "|".join(rf"(?<=(?<![a-z])(?:{'|'.join(group)}) .)" for group in by_size.values())


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
            r"(?:(?<=1)[01][0-9]|[0-9])?(?![\w%:/-])(?![.,][0-9])",
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
        pattern=re.compile(r"[0-9](?<![\w.,].)(?:(?<=1)[01][0-9]{1,2}|[0-9])?(?=(?:st|nd|rd|th) birthday)"),
    ),
    Recogniser(
        rule="age",
        score=0.8,
        digits_min=1,
        telling=" 0",
        pattern=re.compile(
            rf"[0-9](?<=[de:sfgmtywl] .)(?:{_any_before(AGE_BEFORE)})"
            r"(?:(?<=1)[01][0-9]|[0-9])?(?![\w%:/-])(?![.,][0-9])(?! (?:percent|minutes|hours|days|weeks|months|miles"
            r"|km|dollars|times|feet|points|on|in|for|of|the|years from|more|less))",
            re.IGNORECASE,
        ),
    ),
)
