"""Germany: tax numbers, health insurance, passports, driving licences, number plates, postal codes."""

from typing import Final

from heterodyne.safety.pii.checksums import LUHN_DOUBLED, icao_731, mod_11_10
from heterodyne.safety.pii.recogniser import LIKELY, SURE, WEAK, Recogniser, shape, words

PASSPORT_LETTER: Final = "CFGHJKLMNPRTVWXYZ"
TAX: Final = words(
    "steuer-id",
    "steuerid",
    "idnr",
    "steuernummer",
    "steuer",
    "steueridentifikationsnummer",
    "st.-nr",
    "stnr",
    "finanzamt",
    "tax id",
    "tin",
)


def _is_tax_id(text: str) -> bool:
    most = max(text[:10].count(digit) for digit in set(text[:10]))
    return most <= 3 and mod_11_10(text)


def _is_insurance(text: str) -> bool:
    digits = f"{ord(text[0].upper()) - 64:02d}{text[1:]}"
    # Luhn's doubling with the weights 1 2 1 2 from the left; the letter stands for its place in the alphabet.
    total = sum(LUHN_DOUBLED[int(one)] if place % 2 else int(one) for place, one in enumerate(digits[:10]))
    return total % 10 == int(digits[10])


def _is_passport(text: str) -> bool:
    return icao_731(text[:8]) == int(text[8])


def _is_postal_code(text: str) -> bool:
    return 1001 <= int(text) <= 99998


RECOGNISERS: Final = (
    Recogniser(
        rule="de_tax_id",
        score=0.4,
        digits_min=11,
        context=TAX,
        raised=SURE,
        check=_is_tax_id,
        pattern=shape(r"[1-9][0-9]{10}"),
    ),
    Recogniser(
        rule="de_tax_number",
        digits_min=9,
        context=TAX,
        pattern=shape(r"(?:0[1-9]|1[0-6])[0-9]{11}|[0-9]{2,3}/[0-9]{3,4}/[0-9]{4,5}"),
    ),
    Recogniser(
        rule="de_health_insurance",
        score=LIKELY,
        digits_min=9,
        raised=SURE,
        check=_is_insurance,
        context=words("kvnr", "krankenkasse", "krankenversicherung", "versichertennummer", "egk", "health insurance"),
        pattern=shape(r"[A-Z][0-9]{9}"),
    ),
    Recogniser(
        rule="de_passport",
        digits_min=4,
        check=_is_passport,
        context=words("reisepass", "pass", "passnummer", "pass-nr", "passport", "ausweis", "personalausweis"),
        pattern=shape(rf"[{PASSPORT_LETTER}][0-9{PASSPORT_LETTER}]{{7}}[0-9]"),
    ),
    Recogniser(
        rule="de_driving_licence",
        score=0.4,
        digits_min=8,
        context=words("führerschein", "fuehrerschein", "fahrerlaubnis", "driving licence", "driver license"),
        pattern=shape(r"[A-Z]{2}[0-9]{8}[A-Z0-9]|[A-Z][0-9]{3}[A-Z0-9]{6}[0-9]"),
    ),
    Recogniser(
        rule="de_number_plate",
        digits_min=2,
        context=words("kennzeichen", "kfz", "fahrzeug", "nummernschild", "number plate", "license plate"),
        pattern=shape(r"[A-ZÄÖÜ]{1,3}([- ])[A-Z]{1,2}[- ]?[1-9][0-9]{0,3}[EH]?"),
    ),
    Recogniser(
        rule="de_postal_code",
        score=0.1,
        digits_min=5,
        check=_is_postal_code,
        context=words("plz", "postleitzahl", "anschrift", "wohnort"),
        pattern=shape(r"[0-9]{5}"),
    ),
    Recogniser(
        rule="de_id_card",
        score=WEAK,
        digits_min=4,
        context=words("personalausweis", "ausweisnummer", "ausweis", "id card"),
        check=lambda text: len(text) == 9 or icao_731(text[:9]) == int(text[9]),
        pattern=shape(rf"[LMNPRTVWXYZ][0-9{PASSPORT_LETTER}]{{8}}[0-9]?"),
    ),
)
