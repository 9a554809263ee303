"""Australia: tax file, business, company and Medicare numbers."""

from typing import Final

from heterodyne.safety.pii.checksums import weighted
from heterodyne.safety.pii.recogniser import LIKELY, SURE, Recogniser, digits_of, shape, words


def _is_tfn(text: str) -> bool:
    return weighted(digits_of(text), (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0


def _is_abn(text: str) -> bool:
    digits = digits_of(text)
    return (weighted(digits, (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)) - 10) % 89 == 0


def _is_acn(text: str) -> bool:
    digits = digits_of(text)
    return -weighted(digits, (8, 7, 6, 5, 4, 3, 2, 1)) % 10 == int(digits[8])


def _is_medicare(text: str) -> bool:
    digits = digits_of(text)
    return weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(digits[8])


RECOGNISERS: Final = (
    Recogniser(
        rule="au_abn",
        score=LIKELY,
        digits_min=11,
        raised=SURE,
        check=_is_abn,
        context=words("abn", "australian business", "business number"),
        pattern=shape(r"[0-9]{2} [0-9]{3} [0-9]{3} [0-9]{3}"),
    ),
    Recogniser(
        rule="au_abn",
        digits_min=11,
        check=_is_abn,
        context=words("abn", "australian business", "business number"),
        pattern=shape(r"[0-9]{11}"),
    ),
    Recogniser(
        rule="au_acn",
        digits_min=9,
        check=_is_acn,
        context=words("acn", "australian company", "company number"),
        pattern=shape(r"[0-9]{3}( ?)[0-9]{3}\1[0-9]{3}"),
    ),
    Recogniser(
        rule="au_tfn",
        digits_min=9,
        check=_is_tfn,
        context=words("tfn", "tax file", "tax", "ato"),
        pattern=shape(r"[0-9]{3}([- ]?)[0-9]{3}\1[0-9]{3}"),
    ),
    Recogniser(
        rule="au_medicare",
        digits_min=10,
        check=_is_medicare,
        context=words("medicare"),
        pattern=shape(r"[2-6][0-9]{3}([- ]?)[0-9]{5}\1[0-9]"),
    ),
)
