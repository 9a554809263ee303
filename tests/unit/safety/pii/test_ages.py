"""Ages, in as many ways as English says them, and numbers that are no age."""

import pytest

from heterodyne.safety.pii.finder import PIIFinder

FOUND = [
    ("he turned 40 last May", "40"),
    ("she turns 40 soon", "40"),
    ("about to turn 40", "40"),
    ("a boy aged 5", "5"),
    ("a 40-year-old driver", "40"),
    ("a 40 year old from Leeds", "40"),
    ("40 y/o, likes tea", "40"),
    ("a 40yo seller", "40"),
    ("a 40 yrs old seller", "40"),
    ("in her 40s", "40s"),
    ("a man in his mid 30s", "30s"),
    ("a man in his late-30s", "30s"),
    ("celebrates her 40th birthday", "40"),
    ("planning my 21st b-day", "21"),
    ("Age: 40", "40"),
    ("Age/Sex: 40/F", "40"),
    ("Age (years): 40", "40"),
    ("Your age? 40", "40"),
    ("How old are you? 40", "40"),
    ("born 40 years ago", "40"),
    ("my age is 40", "40"),
    ("I'm 40", "40"),
    ("I am over 40", "40"),
    ("he's pushing 60 and still runs", "60"),
    ("she is nearly 40", "40"),
    ("I'll be 40 soon", "40"),
    ("she is 40 now", "40"),
    ("40 years young", "40"),
    ("40 years of age", "40"),
    ("at the age of 40", "40"),
    ("At 40, she was elected", "40"),
    ("a woman of 40", "40"),
    ("a girl of 7", "7"),
    ("he died at 83", "83"),
    ("she passed away at 83.", "83"),
    ("diagnosed at 45", "45"),
    ("my friend, who is 40, agrees", "40"),
    ("which makes her 40", "40"),
    ("my wife (34F) and I (36 m)", "34"),
    ("my wife (34F) and I (36 m)", "36"),
    ("he (M34) says no", "34"),
    ("our baby is 6 months old", "6"),
    ("a 6-month-old baby", "6"),
    ("my 10 week old son", "10"),
    ("my daughter was 11 months old", "11"),
    ("forty years old", "forty"),
    ("a forty-two-year-old teacher", "forty-two"),
    ("sixteen years of age", "sixteen"),
    ("the age of forty", "forty"),
    ("a child aged nine", "nine"),
    ("she turned thirty", "thirty"),
    ("in her forties", "forties"),
    ("in his mid-fifties", "fifties"),
    ("in their early twenties", "twenties"),
]
NOT_FOUND = [
    "it turned 40 degrees and 40 pages",
    "turn 90 degrees at 40, then stop",
    "at 40, the water boils over",
    "in the 40s and in 1940s style",
    "over 40 people came, under 18 km/h",
    "a 6-month-old report and a 3 day old bread",
    "the contract is 6 months old",
    "(34) items, (34 MB), (12 files), (3m), (200 f)",
    "version 40, page 40, 40 items, 40 years of service",
    "it died at 5 pm and at 5 o'clock",
    "who is 40 percent of us?",
    "a list of 40, a set of 7, a box of 12",
    "turned twenty pages, the forties were cold",
    "forty thieves and seven days",
    "managed four, engaged two",
    "turned five times",
]


@pytest.mark.parametrize(("text", "age"), FOUND)
def test_an_age_is_found(text: str, age: str) -> None:
    found = [text[one.start : one.end] for one in PIIFinder(["age"]).find(text)]
    assert age in found
    assert len(found) <= text.count("(") + 1


@pytest.mark.parametrize("text", NOT_FOUND)
def test_another_number_is_no_age(text: str) -> None:
    assert [text[one.start : one.end] for one in PIIFinder(["age"]).find(text)] == []
