"""United Kingdom: NHS and National Insurance numbers, driving licences, passports, postcodes, number plates."""

import re
from typing import Final

from heterodyne.safety.pii.checksums import weighted
from heterodyne.safety.pii.recogniser import END, LIKELY, SURE, WEAK, Recogniser, digits_of, shape, words

ADDRESS: Final = words("postcode", "post code", "address", "postal", "street", "road", "live", "deliver", "send to")


def _is_nhs(text: str) -> bool:
    digits = digits_of(text)
    if len(set(digits)) == 1:
        return False
    check = 11 - weighted(digits, (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return check % 11 == int(digits[9]) and check != 10


POSTCODE: Final = (
    r"(?:(?:[A-PR-UWYZ][0-9]{1,2}|[A-PR-UWYZ][A-HK-Y][0-9]{1,2}"
    r"|[A-PR-UWYZ][0-9][A-HJKPSTUW]|[A-PR-UWYZ][A-HK-Y][0-9][ABEHMNPRVWXY]) ?[0-9][ABD-HJLNP-UW-Z]{2})"
)

RECOGNISERS: Final = (
    Recogniser(
        rule="uk_nhs",
        score=LIKELY,
        digits_min=10,
        raised=SURE,
        check=_is_nhs,
        context=words("nhs", "national health", "health service", "patient"),
        pattern=shape(r"[0-9]{3}([- ])[0-9]{3}\1[0-9]{4}"),
    ),
    Recogniser(
        rule="uk_nhs",
        digits_min=10,
        check=_is_nhs,
        context=words("nhs", "national health", "health service", "patient"),
        pattern=shape(r"[0-9]{10}"),
    ),
    Recogniser(
        rule="uk_nino",
        score=LIKELY,
        digits_min=6,
        raised=SURE,
        context=words("nino", "national insurance", "ni number", "insurance"),
        pattern=shape(
            r"(?!BG|GB|NK|KN|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?"
            r"[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]"
        ),
    ),
    Recogniser(
        rule="uk_driving_licence",
        score=0.9,
        digits_min=6,
        is_long=True,
        pattern=shape(
            r"(?=[A-Z]{2})[A-Z9]{5}[0-9](?:[05][1-9]|[16][0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]"
            r"[A-Z9]{2}[0-9][A-Z]{2}"
        ),
    ),
    Recogniser(
        rule="uk_postcode",
        score=LIKELY,
        digits_min=2,
        context=ADDRESS,
        telling=" 0AA",
        pattern=shape(POSTCODE.replace(" ?", " "), exact_case=True),
    ),
    Recogniser(rule="uk_postcode", digits_min=2, context=ADDRESS, pattern=shape(POSTCODE)),
    Recogniser(  # Girobank's own, which fits no area
        rule="uk_postcode",
        digits_min=1,
        score=LIKELY,
        pattern=re.compile(rf"G(?<!\w.)(?<![0-9][-./].)IR ?0AA{END}", re.ASCII | re.IGNORECASE),
    ),
    Recogniser(
        rule="uk_passport",
        score=WEAK,
        digits_min=7,
        context=words("passport", "travel document", "hmpo"),
        pattern=shape(r"[A-Z]{2}[0-9]{7}|[0-9]{9}"),
    ),
    Recogniser(
        rule="uk_number_plate",
        score=WEAK,
        digits_min=2,
        context=words("registration", "number plate", "licence plate", "license plate", "reg", "vehicle", "dvla"),
        pattern=shape(r"[A-HJ-PR-Y]{2}[0-9]{2} ?[A-HJ-PR-Z]{3}|[A-HJ-NPR-TV-Y][0-9]{1,3} ?[A-HJ-PR-Y]{3}"),
    ),
)
