"""Finland and Sweden: personal identity numbers with a birthday in them, and a Swedish organisation's number."""

import re
from typing import Final

from heterodyne.safety.pii.checksums import luhn
from heterodyne.safety.pii.days import is_day
from heterodyne.safety.pii.recogniser import END, SURE, Recogniser, digits_of, shape, words

FINNISH_CHECKS: Final = "0123456789ABCDEFHJKLMNPRSTUVWXY"
FINNISH_CENTURIES: Final = {"+": 1800, **dict.fromkeys("-YXWVU", 1900), **dict.fromkeys("ABCDEF", 2000)}


def _is_finnish(text: str) -> bool:
    text = text.upper()
    year = FINNISH_CENTURIES[text[6]] + int(text[4:6])
    if not is_day(year, int(text[2:4]), int(text[:2])) or int(text[7:10]) < 2:
        return False
    return FINNISH_CHECKS[int(text[:6] + text[7:10]) % 31] == text[10]


def _is_swedish(text: str) -> bool:
    digits = digits_of(text)
    year, month, day = int(digits[:-8]), int(digits[-8:-6]), int(digits[-6:-4])
    day -= 60 if day > 60 else 0  # a coordination number
    # Without a century 00 may be 2000, which had a 29th of February.
    return is_day(year if len(digits) == 12 else 2000 + year, month, day) and luhn(digits[-10:])


RECOGNISERS: Final = (
    Recogniser(
        rule="fi_personal_identity_code",
        score=SURE,
        digits_min=9,
        check=_is_finnish,
        pattern=re.compile(rf"(?<![0-9])[0-9]{{6}}[-+A-FU-Y][0-9]{{3}}[0-9A-FHJ-NPR-Y]{END}", re.IGNORECASE),
    ),
    Recogniser(
        rule="se_personnummer",
        score=0.7,
        digits_min=10,
        raised=SURE,
        check=_is_swedish,
        context=words("personnummer", "pnr", "samordningsnummer", "personal identity", "swedish id"),
        pattern=re.compile(rf"(?<![0-9])(?<![0-9][-.])(?:(?:18|19|20)[0-9]{{6}}-?|[0-9]{{6}}[-+])[0-9]{{4}}{END}"),
    ),
    Recogniser(
        rule="se_personnummer",
        digits_min=10,
        raised=SURE,
        check=_is_swedish,
        context=words("personnummer", "pnr", "samordningsnummer", "personal identity", "swedish id"),
        pattern=shape(r"[0-9]{10}"),
    ),
    Recogniser(
        rule="se_organisationsnummer",
        digits_min=10,
        check=lambda text: luhn(digits_of(text)),
        context=words("organisationsnummer", "orgnr", "org.nr", "org nr"),
        pattern=shape(r"[0-9]{2}[2-9][0-9]{3}-?[0-9]{4}"),
    ),
)
