"""India: Aadhaar, PAN, GSTIN, passports, voter cards and vehicle registrations."""

from typing import Final

from heterodyne.safety.pii.checksums import verhoeff
from heterodyne.safety.pii.recogniser import LIKELY, SURE, Recogniser, digits_of, shape, words

BASE36: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
GSTIN: Final = r"(?:0[1-9]|[12][0-9]|3[0-7])[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]"
TAXES: Final = words("gstin", "gst", "goods and services", "tax identification")
PAN: Final = words("pan", "permanent account", "income tax")


def _is_aadhaar(text: str) -> bool:
    digits = digits_of(text)
    return digits != digits[::-1] and verhoeff(digits)  # a palindrome is never issued


def _is_gstin(text: str) -> bool:
    total = 0
    for place, one in enumerate(text[:14].upper()):
        product = BASE36.index(one) * (1 + place % 2)
        total += product // 36 + product % 36
    return BASE36[-total % 36] == text[14].upper()


RECOGNISERS: Final = (
    Recogniser(
        rule="in_aadhaar",
        score=LIKELY,
        digits_min=12,
        check=_is_aadhaar,
        raised=SURE,
        context=words("aadhaar", "aadhar", "uidai", "uid"),
        pattern=shape(r"[2-9][0-9]{3}([- ])[0-9]{4}\1[0-9]{4}"),
    ),
    Recogniser(
        rule="in_aadhaar",
        digits_min=12,
        check=_is_aadhaar,
        raised=SURE,
        context=words("aadhaar", "aadhar", "uidai", "uid"),
        pattern=shape(r"[2-9][0-9]{11}"),
    ),
    Recogniser(rule="in_gstin", score=SURE, digits_min=6, is_long=True, check=_is_gstin, pattern=shape(GSTIN)),
    Recogniser(rule="in_gstin", score=LIKELY, digits_min=6, is_long=True, context=TAXES, pattern=shape(GSTIN)),
    Recogniser(
        rule="in_pan",
        score=LIKELY,
        digits_min=4,
        context=PAN,
        raised=SURE,
        telling="AAAAA0000A",
        pattern=shape(r"[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]", exact_case=True),
    ),
    Recogniser(rule="in_pan", digits_min=4, context=PAN, pattern=shape(r"[A-Z]{5}[0-9]{4}[A-Z]")),
    Recogniser(
        rule="in_passport",
        digits_min=7,
        context=words("passport", "travel document"),
        pattern=shape(r"[A-PR-WY][1-9][0-9]{5}[1-9]"),
    ),
    Recogniser(
        rule="in_voter",
        digits_min=7,
        context=words("voter", "vote", "epic", "election", "elector"),
        pattern=shape(r"[A-Z]{3}[0-9]{7}"),
    ),
    Recogniser(
        rule="in_vehicle_registration",
        digits_min=5,
        context=words("vehicle", "registration", "rto", "number plate", "car", "bike"),
        pattern=shape(
            r"(?:A[NPRS]|BR|C[GH]|D[DLN]|G[AJ]|H[PR]|J[HK]|K[AL]|L[AD]|M[HLNPZ]|NL|O[DR]|P[BY]|RJ|SK|T[NRS]"
            r"|U[KP]|WB)[ -]?[0-9]{1,2}[ -]?[A-Z]{1,3}[ -]?[0-9]{4}"
        ),
    ),
)
