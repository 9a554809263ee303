"""Korea, Thailand, Singapore and China: resident, business and passport numbers."""

from typing import Final

from heterodyne.safety.pii.checksums import mod_11_2, weighted
from heterodyne.safety.pii.days import is_day
from heterodyne.safety.pii.recogniser import LIKELY, SURE, Recogniser, digits_of, shape, words

RESIDENT: Final = words("rrn", "resident registration", "resident", "주민등록번호", "주민번호", "주민등록")
THAI_PROVINCES: Final = r"(?:1[0-9]|2[0-7]|3[0-9]|4[0-9]|5[0-8]|6[0-7]|7[0-7]|8[0-6]|9[0-6])"
# Check letters of Singapore by the weighted sum modulo 11, for each first letter, and what the first letter adds.
NRIC_LETTERS: Final = {
    "S": "JZIHGFEDCBA",
    "T": "JZIHGFEDCBA",
    "F": "XWUTRQPNMLK",
    "G": "XWUTRQPNMLK",
    "M": "XWUTRQPNJLK",
}
NRIC_OFFSETS: Final = {"S": 0, "T": 4, "F": 0, "G": 4, "M": 3}


def _is_resident_day(text: str) -> bool:
    century = 1900 if text[-7] in "12" else 2000
    return is_day(century + int(text[:2]), int(text[2:4]), int(text[4:6]))


def _is_resident(text: str) -> bool:
    digits = digits_of(text)
    check = (11 - weighted(digits, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10
    return _is_resident_day(text) and check == int(digits[12])


def _is_business(text: str) -> bool:
    digits = digits_of(text)
    total = weighted(digits, (1, 3, 7, 1, 3, 7, 1, 3, 5)) + int(digits[8]) * 5 // 10
    return -total % 10 == int(digits[9])


def _is_thai(text: str) -> bool:
    digits = digits_of(text)
    return (11 - weighted(digits, range(13, 1, -1)) % 11) % 10 == int(digits[12])


def _is_nric(text: str) -> bool:
    text = text.upper()
    total = weighted(text[1:8], (2, 7, 6, 5, 4, 3, 2)) + NRIC_OFFSETS[text[0]]
    return NRIC_LETTERS[text[0]][total % 11] == text[8]


def _is_chinese(text: str) -> bool:
    return is_day(int(text[6:10]), int(text[10:12]), int(text[12:14])) and mod_11_2(text)


RECOGNISERS: Final = (
    Recogniser(
        rule="kr_rrn",
        score=SURE,
        digits_min=13,
        check=_is_resident,
        pattern=shape(r"[0-9]{6}-[1-4][0-9]{6}"),
    ),
    Recogniser(  # numbers issued since October 2020 carry no check digit
        rule="kr_rrn",
        score=LIKELY,
        digits_min=13,
        context=RESIDENT,
        check=_is_resident_day,
        pattern=shape(r"[0-9]{6}-[1-4][0-9]{6}"),
    ),
    Recogniser(
        rule="kr_rrn",
        digits_min=13,
        context=RESIDENT,
        check=_is_resident_day,
        pattern=shape(r"[0-9]{6}[1-4][0-9]{6}"),
    ),
    Recogniser(
        rule="kr_brn",
        score=LIKELY,
        digits_min=10,
        raised=SURE,
        check=_is_business,
        context=words("brn", "business registration", "사업자등록번호", "사업자"),
        pattern=shape(r"[0-9]{3}-[0-9]{2}-[0-9]{5}"),
    ),
    Recogniser(
        rule="kr_brn",
        digits_min=10,
        check=_is_business,
        context=words("brn", "business registration", "사업자등록번호", "사업자"),
        pattern=shape(r"[0-9]{10}"),
    ),
    Recogniser(
        rule="kr_passport",
        digits_min=7,
        context=words("passport", "여권"),
        pattern=shape(r"[MSROD][0-9]{3}(?:[A-Z][0-9]{4}|[0-9]{5})"),
    ),
    Recogniser(
        rule="th_tnin",
        score=0.4,
        digits_min=13,
        raised=SURE,
        check=_is_thai,
        context=words("thai", "thailand", "tnin", "national id", "เลขประจำตัว", "เลขบัตร", "บัตรประชาชน"),
        pattern=shape(rf"[1-8]{THAI_PROVINCES}[0-9]{{10}}|[1-8]-[0-9]{{4}}-[0-9]{{5}}-[0-9]{{2}}-[0-9]"),
    ),
    Recogniser(
        rule="sg_nric",
        score=SURE,
        digits_min=7,
        check=_is_nric,
        pattern=shape(r"[STFGM][0-9]{7}[A-Z]"),
    ),
    Recogniser(
        rule="sg_uen",
        digits_min=7,
        context=words("uen", "entity number", "acra", "singapore"),
        pattern=shape(r"[0-9]{8,9}[A-Z]|[TSR][0-9]{2}[A-Z]{2}[0-9]{4}[A-Z]"),
    ),
    Recogniser(
        rule="cn_resident_id",
        score=SURE,
        digits_min=17,
        check=_is_chinese,
        pattern=shape(r"[1-8][0-9]{5}(?:19|20)[0-9]{9}[0-9X]"),
    ),
)
