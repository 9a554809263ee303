"""Dates of birth, and dates at large. A date is personal when it is said to be somebody's birthday."""

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
