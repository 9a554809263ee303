"""Italy: fiscal codes, VAT numbers, identity cards, passports, driving licences."""

from typing import Final

from heterodyne.safety.pii.checksums import luhn
from heterodyne.safety.pii.recogniser import LIKELY, SURE, Recogniser, shape, words

# What a character counts in an odd place of a fiscal code (Decreto Ministeriale 12/03/1974); digits as letters A to J.
ODD: Final = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
FISCAL: Final = words("codice fiscale", "cf", "fiscal code", "fiscale", "tax code")
FISCAL_SHAPE: Final = (
    r"[A-Z]{6}[0-9LMNPQRSTUV]{2}[ABCDEHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]"  # letters in omocodia
)


def _is_fiscal(text: str) -> bool:
    total = 0
    for place, one in enumerate(text[:15].upper()):
        value = int(one) if one.isdigit() else ord(one) - 65
        total += value if place % 2 else ODD[value]
    return chr(65 + total % 26) == text[15].upper()


RECOGNISERS: Final = (
    Recogniser(
        rule="it_fiscal_code",
        score=SURE,
        digits_min=0,
        is_long=True,
        check=_is_fiscal,
        pattern=shape(FISCAL_SHAPE),
    ),
    Recogniser(
        rule="it_fiscal_code", score=LIKELY, digits_min=0, is_long=True, context=FISCAL, pattern=shape(FISCAL_SHAPE)
    ),
    Recogniser(
        rule="it_vat",
        digits_min=11,
        context=words("partita iva", "p.iva", "p. iva", "iva", "vat"),
        check=luhn,
        pattern=shape(r"[0-9]{11}"),
    ),
    Recogniser(
        rule="it_identity_card",
        digits_min=5,
        context=words("carta d'identità", "carta di identità", "carta d'identita", "identità", "identity card", "cie"),
        pattern=shape(r"[A-Z]{2} ?[0-9]{7}|[0-9]{7}[A-Z]{2}|[A-Z]{2}[0-9]{5}[A-Z]{2}"),
    ),
    Recogniser(
        rule="it_passport",
        digits_min=7,
        context=words("passaporto", "passport"),
        pattern=shape(r"[A-Z]{2}[0-9]{7}"),
    ),
    Recogniser(
        rule="it_driver_license",
        digits_min=7,
        context=words("patente", "driving licence", "driver license"),
        pattern=shape(r"U1[A-Z0-9]{7}[A-Z]|[A-Z]{2}[0-9]{7}[A-Z]"),
    ),
)
