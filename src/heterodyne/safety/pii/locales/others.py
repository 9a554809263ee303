"""France, the Netherlands, Belgium and Brazil: one or two numbers each."""

from typing import Final

from heterodyne.safety.pii.checksums import weighted
from heterodyne.safety.pii.recogniser import LIKELY, SURE, Recogniser, digits_of, shape, words


def _is_nir(text: str) -> bool:
    plain = text.replace(" ", "").upper()
    number = int(plain[:13].replace("2A", "19").replace("2B", "18"))  # Corsica
    return 97 - number % 97 == int(plain[13:])


def _is_bsn(text: str) -> bool:
    digits = digits_of(text).zfill(9)
    return len(set(digits)) > 1 and weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def _is_belgian(text: str) -> bool:
    digits = digits_of(text)
    body, check = digits[:9], int(digits[9:])
    return check in (97 - int(body) % 97, 97 - int("2" + body) % 97)  # born before 2000, and since


def _is_cpf(text: str) -> bool:
    digits = digits_of(text)
    if len(set(digits)) == 1:
        return False
    first = weighted(digits, range(10, 1, -1)) * 10 % 11 % 10
    second = weighted(digits, range(11, 1, -1)) * 10 % 11 % 10
    return digits[9:] == f"{first}{second}"


RECOGNISERS: Final = (
    Recogniser(
        rule="fr_nir",
        score=0.9,
        digits_min=14,
        raised=SURE,
        check=_is_nir,
        pattern=shape(
            r"[1-478] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?"
            r"[0-9]{2}"
        ),
    ),
    Recogniser(
        rule="nl_bsn",
        digits_min=8,
        check=_is_bsn,
        context=words("bsn", "burgerservicenummer", "sofinummer"),
        pattern=shape(r"[0-9]{8,9}|[0-9]{4}\.[0-9]{2}\.[0-9]{3}"),
    ),
    Recogniser(
        rule="be_national_number",
        score=LIKELY,
        digits_min=11,
        raised=SURE,
        check=_is_belgian,
        context=words("rijksregisternummer", "registre national", "national number"),
        pattern=shape(r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}"),
    ),
    Recogniser(
        rule="br_cpf",
        score=0.8,
        digits_min=11,
        raised=SURE,
        check=_is_cpf,
        context=words("cpf"),
        pattern=shape(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}"),
    ),
    Recogniser(rule="br_cpf", digits_min=11, check=_is_cpf, context=words("cpf"), pattern=shape(r"[0-9]{11}")),
)
