"""United States: Social Security, tax, health and bank numbers, passports and driver licences."""

from typing import Final

from heterodyne.safety.pii.checksums import luhn, weighted
from heterodyne.safety.pii.recogniser import LIKELY, SURE, WEAK, Recogniser, digits_of, shape, words

ADVERTISED: Final = frozenset({"078051120", "123456789", "219099999", "457555462"})  # printed in public; nobody's
MBI_LETTER: Final = "[AC-HJKMNP-RT-Y]"
SOCIAL: Final = words("ssn", "social security", "social", "ss#", "ssa", "ss number")
TAX: Final = words("itin", "taxpayer", "tax id", "tax", "irs", "tin", "w-7")
BANK: Final = words("bank", "account", "acct", "checking", "savings", "debit", "deposit")
ROUTING: Final = words("aba", "routing", "rtn", "transit", "bank", "wire", "ach")
LICENCE: Final = words(
    "driver license",
    "driver's license",
    "drivers license",
    "driver licence",
    "driver's licence",
    "driving license",
    "driving licence",
    "driver",
    "dl",
    "license",
    "lic#",
)


def _is_social(text: str) -> bool:
    digits = digits_of(text)
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and group != "00" and serial != "0000" and digits not in ADVERTISED


def _is_npi(text: str) -> bool:
    digits = digits_of(text)
    return len(set(digits[:9])) > 1 and luhn("80840" + digits)  # the prefix of health cards in the United States


def _is_routing(text: str) -> bool:
    return weighted(digits_of(text), (3, 7, 1, 3, 7, 1, 3, 7, 1)) % 10 == 0


def _is_dea(text: str) -> bool:
    digits = digits_of(text)[-7:]
    return (weighted(digits, (1, 0, 1, 0, 1)) + 2 * weighted(digits, (0, 1, 0, 1, 0, 1))) % 10 == int(digits[6])


RECOGNISERS: Final = (
    Recogniser(
        rule="us_ssn",
        score=LIKELY,
        digits_min=9,
        context=SOCIAL,
        raised=SURE,
        check=_is_social,
        pattern=shape(r"[0-9]{3}([-. ])[0-9]{2}\1[0-9]{4}"),
    ),
    Recogniser(
        rule="us_ssn",
        digits_min=9,
        context=SOCIAL,
        check=_is_social,
        pattern=shape(r"[0-9]{9}|[0-9]{3}-[0-9]{6}|[0-9]{5}-[0-9]{4}"),
    ),
    Recogniser(
        rule="us_itin",
        score=LIKELY,
        digits_min=9,
        context=TAX,
        raised=SURE,
        pattern=shape(r"9[0-9]{2}([- ])(?:5[0-9]|6[0-5]|7[0-9]|8[0-8]|9[0-24-9])\1[0-9]{4}"),
    ),
    Recogniser(
        rule="us_itin",
        digits_min=9,
        context=TAX,
        pattern=shape(r"9[0-9]{2}(?:5[0-9]|6[0-5]|7[0-9]|8[0-8]|9[0-24-9])[0-9]{4}"),
    ),
    Recogniser(
        rule="us_passport",
        digits_min=8,
        context=words("passport", "travel document", "travel"),
        pattern=shape(r"[0-9]{9}|[A-Z][0-9]{8}"),
    ),
    Recogniser(
        rule="us_driver_license",
        score=0.1,
        digits_min=4,
        context=LICENCE,
        raised=0.7,
        pattern=shape(
            r"[A-Z]{0,2}[0-9]{6,14}|[A-Z][0-9]{3}(?:-[0-9]{3,4}){2,3}(?:-[0-9])?"
            r"|[0-9]{3}(?:-[0-9]{2,4}){2}|[0-9]{4}-[0-9]{2}-[0-9]{4}|[0-9]{2}-[0-9]{3}-[0-9]{4}"
            r"|[A-Z]{3,5}[A-Z*]{0,4}[0-9]{3}[A-Z0-9]{2}|[A-Z][0-9]{4,5}-[0-9]{5}-[0-9]{5}"
        ),
    ),
    Recogniser(
        rule="us_bank_number",
        score=0.1,
        digits_min=8,
        context=BANK,
        raised=LIKELY,
        pattern=shape(r"[0-9]{8,17}"),
    ),
    Recogniser(
        rule="us_npi",
        digits_min=10,
        context=words("npi", "provider", "national provider"),
        check=_is_npi,
        pattern=shape(r"[12][0-9]{3}([- ]?)[0-9]{3}\1[0-9]{3}"),
    ),
    Recogniser(
        rule="us_mbi",
        score=LIKELY,
        digits_min=4,
        raised=SURE,
        context=words("medicare", "mbi", "beneficiary", "cms"),
        telling="AA00",
        pattern=shape(
            rf"[1-9]{MBI_LETTER}(?:{MBI_LETTER}|[0-9])[0-9](-?){MBI_LETTER}(?:{MBI_LETTER}|[0-9])[0-9]\1"
            rf"{MBI_LETTER}{{2}}[0-9]{{2}}",
            exact_case=True,
        ),
    ),
    Recogniser(
        rule="us_aba_routing",
        score=WEAK,
        digits_min=9,
        context=ROUTING,
        check=_is_routing,
        pattern=shape(r"(?:0[0-9]|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)[0-9]{2}(-?)[0-9]{4}\1[0-9]"),
    ),
    Recogniser(
        rule="us_medical_license",
        score=LIKELY,
        digits_min=7,
        raised=SURE,
        check=_is_dea,
        context=words("dea", "medical", "certificate", "license", "prescriber"),
        pattern=shape(r"[ABCDEFGHJKLMPRSTUX][A-Z9][0-9]{7}"),
    ),
)
