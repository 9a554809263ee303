"""Canada: social insurance numbers and postal codes."""

from typing import Final

from heterodyne.safety.pii.checksums import luhn
from heterodyne.safety.pii.recogniser import LIKELY, SURE, Recogniser, digits_of, shape, words

INSURANCE: Final = words("sin", "social insurance", "nas", "assurance sociale", "cra")


def _is_sin(text: str) -> bool:
    digits = digits_of(text)
    return len(set(digits)) > 1 and luhn(digits)


RECOGNISERS: Final = (
    Recogniser(
        rule="ca_sin",
        score=LIKELY,
        digits_min=9,
        context=INSURANCE,
        raised=SURE,
        check=_is_sin,
        pattern=shape(r"[1-79][0-9]{2}([- ])[0-9]{3}\1[0-9]{3}"),
    ),
    Recogniser(
        rule="ca_sin",
        digits_min=9,
        context=INSURANCE,
        check=_is_sin,
        pattern=shape(r"[1-79][0-9]{8}"),
    ),
    Recogniser(
        rule="ca_postal_code",
        digits_min=3,
        context=words("postal", "address", "canada", "ontario", "quebec", "alberta", "code postal"),
        pattern=shape(r"[ABCEGHJ-NPRSTVXY][0-9][ABCEGHJ-NPRSTV-Z][ -]?[0-9][ABCEGHJ-NPRSTV-Z][0-9]"),
    ),
)
