"""Payment cards and international bank account numbers."""

import re
from typing import Final

from heterodyne.safety.pii.checksums import luhn, mod_97_10
from heterodyne.safety.pii.recogniser import SURE, Recogniser, digits_of, shape, words

# Country code and length, from the SWIFT registry of IBAN formats.
IBAN_LENGTHS: Final = {
    code: length
    for length, codes in (
        (15, "NO"),
        (16, "BE"),
        (18, "DK FO FI GL NL SD FK"),
        (19, "MK SI"),
        (20, "AT BA EE KZ LT LU XK MN"),
        (21, "CH HR LI LV"),
        (22, "BG BH CR DE GB GE IE ME RS VA"),
        (23, "AE GI IL IQ TL OM SO"),
        (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
        (25, "LY PT ST"),
        (26, "IS TR DJ"),
        (27, "BI FR GR IT MC MR SM"),
        (28, "AL AZ BY CY DO GT HU LB NI PL SV"),
        (29, "BR EG PS QA UA"),
        (30, "JO KW MU YE"),
        (31, "MT SC"),
        (32, "LC"),
        (33, "RU"),
    )
    for code in codes.split()
}

CARD: Final = words(
    "card",
    "credit",
    "debit",
    "visa",
    "mastercard",
    "amex",
    "american express",
    "cc",
    "maestro",
    "discover",
    "jcb",
    "diners",
    "payment",
    "kreditkarte",
    "tarjeta",
    "carte",
)
CARD_SHAPE: Final = re.compile(r"(?<![\w])(?<![0-9][-./])[1-689][0-9]{3}(?:[- ]?[0-9]){8,15}(?!\w)(?![-./][0-9])")

# Issuer ranges: first digits from, to, and the lengths that are issued (ISO/IEC 7812, the issuers' own pages).
COMMON: Final = (
    ("4", "4", (16, 19)),  # Visa
    ("51", "55", (16,)),
    ("2221", "2720", (16,)),  # Mastercard
    ("34", "34", (15,)),
    ("37", "37", (15,)),  # American Express
    ("300", "305", (14, 16)),
    ("309", "309", (14,)),
    ("36", "36", (14,)),
    ("38", "39", (14, 16)),  # Diners Club
    ("6011", "6011", (16, 19)),
    ("644", "659", (16, 19)),  # Discover
    ("3528", "3589", (16, 19)),
    ("2131", "2131", (15,)),
    ("1800", "1800", (15,)),  # JCB
    ("62", "62", (16, 17, 18, 19)),  # UnionPay
    ("2200", "2204", (16,)),
    ("5019", "5019", (16,)),
    ("60", "60", (16,)),
    ("81", "82", (16,)),  # Mir, Dankort, RuPay
)
RARE: Final = (
    ("4", "4", (13,)),
    ("50", "50", tuple(range(12, 20))),
    ("56", "58", tuple(range(12, 20))),
    ("6", "6", tuple(range(12, 20))),  # Maestro
    ("1", "1", (15,)),
    ("35", "35", (16,)),  # UATP, and JCB beside its range
)


def _is_of(ranges: tuple[tuple[str, str, tuple[int, ...]], ...], digits: str) -> bool:
    return any(first <= digits[: len(first)] <= last and len(digits) in lengths for first, last, lengths in ranges)


def _is_common_card(text: str) -> bool:
    digits = digits_of(text)
    return _is_of(COMMON, digits) and luhn(digits)


def _is_rare_card(text: str) -> bool:
    digits = digits_of(text)
    return _is_of(RARE, digits) and luhn(digits)


def _is_iban(text: str) -> bool:
    plain = re.sub("[ -]", "", text).upper()
    return IBAN_LENGTHS.get(plain[:2]) == len(plain) and mod_97_10(plain)


CARDS: Final = (
    Recogniser(
        rule="credit_card",
        score=0.9,
        digits_min=12,
        check=_is_common_card,
        context=CARD,
        raised=1.0,
        pattern=CARD_SHAPE,
    ),
    Recogniser(
        rule="credit_card",
        score=0.3,
        digits_min=12,
        check=_is_rare_card,
        context=CARD,
        raised=0.9,
        pattern=CARD_SHAPE,
    ),
)

IBANS: Final = tuple(
    Recogniser(
        rule="iban",
        score=1.0,
        digits_min=8,
        check=_is_iban,
        raised=SURE,
        pattern=shape(body),
    )
    for body in (
        "[A-Z]{2}[0-9]{2}[A-Z0-9]{11,29}",
        "[A-Z]{2}[0-9]{2}(?:[ -][A-Z0-9]{4}){2,7}(?:[ -][A-Z0-9]{1,3})?",
    )
)
