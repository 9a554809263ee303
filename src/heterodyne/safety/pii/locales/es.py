"""Spain: NIF, NIE and passports."""

from typing import Final

from heterodyne.safety.pii.recogniser import SURE, Recogniser, digits_of, shape, words

LETTERS: Final = "TRWAGMYFPDXBNJZSQVHLCKE"  # by the number modulo 23
IDENTITY: Final = words("nif", "dni", "nie", "documento nacional", "identidad", "extranjero", "extranjería")


def _is_nif(text: str) -> bool:
    return LETTERS[int(digits_of(text)) % 23] == text[-1].upper()


def _is_nie(text: str) -> bool:
    number = str("XYZ".index(text[0].upper())) + digits_of(text)
    return LETTERS[int(number) % 23] == text[-1].upper()


RECOGNISERS: Final = (
    Recogniser(
        rule="es_nif",
        score=0.7,
        digits_min=7,
        context=IDENTITY,
        raised=SURE,
        check=_is_nif,
        pattern=shape(r"[0-9]{7,8}-?[A-HJ-NP-TV-Z]"),
    ),
    Recogniser(
        rule="es_nie",
        score=0.8,
        digits_min=7,
        context=IDENTITY,
        raised=SURE,
        check=_is_nie,
        pattern=shape(r"[XYZ]-?[0-9]{7}-?[A-HJ-NP-TV-Z]"),
    ),
    Recogniser(
        rule="es_passport",
        digits_min=6,
        context=words("pasaporte", "passport"),
        pattern=shape(r"[A-Z]{3}[0-9]{6}"),
    ),
)
