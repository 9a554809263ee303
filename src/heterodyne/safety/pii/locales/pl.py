"""Poland: PESEL, NIP and identity cards."""

from typing import Final

from heterodyne.safety.pii.checksums import weighted
from heterodyne.safety.pii.days import is_day
from heterodyne.safety.pii.recogniser import LIKELY, SURE, Recogniser, digits_of, shape, words

CENTURIES: Final = (1900, 2000, 2100, 2200, 1800)  # by the month's tens, two for each


def _is_pesel(text: str) -> bool:
    year, month, day = int(text[:2]), int(text[2:4]), int(text[4:6])
    if not is_day(CENTURIES[month // 20] + year, month % 20, day):
        return False
    return weighted(text, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def _is_nip(text: str) -> bool:
    digits = digits_of(text)
    return weighted(digits, (6, 5, 7, 2, 3, 4, 5, 6, 7)) % 11 == int(digits[9])


def _is_identity_card(text: str) -> bool:
    values = [int(one, 36) for one in text.replace(" ", "")]
    return sum(value * weight for value, weight in zip(values, (7, 3, 1, 9, 7, 3, 1, 7, 3), strict=True)) % 10 == 0


RECOGNISERS: Final = (
    Recogniser(
        rule="pl_pesel",
        score=LIKELY,
        digits_min=11,
        raised=SURE,
        context=words("pesel", "ewidencyjny"),
        check=_is_pesel,
        pattern=shape(r"[0-9]{11}"),
    ),
    Recogniser(
        rule="pl_nip",
        digits_min=10,
        context=words("nip", "podatkowy"),
        check=_is_nip,
        pattern=shape(r"[1-9][0-9]{2}(?:[0-9]{7}|-[0-9]{3}-[0-9]{2}-[0-9]{2}|-[0-9]{2}-[0-9]{2}-[0-9]{3})"),
    ),
    Recogniser(
        rule="pl_identity_card",
        digits_min=6,
        context=words("dowód", "dowod", "dowodu", "identity card", "id card"),
        check=_is_identity_card,
        pattern=shape(r"[A-Z]{3} ?[0-9]{6}"),
    ),
)
