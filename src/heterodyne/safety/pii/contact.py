"""E-mail addresses and telephone numbers."""

import re
from string import ascii_letters, digits
from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.pii.recogniser import RAISED, SURE, Recogniser, digits_of, words

LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
EMAIL_DOMAIN: Final = re.compile(rf"(?:{LABEL}\.){{1,8}}[a-z]{{2,24}}(?![\w-])", re.IGNORECASE)
LOCAL_MOST: Final = 64  # characters before the at sign (RFC 5321)
NEVER_FIRST: Final = ".'/=`{|*?"  # marks that rather belong to the sentence
LOCAL_MARKS: Final = ".!#$%&'*+/=?^_`{|}~-"
AT: Final = re.compile(rf"@(?<=[\w{re.escape(LOCAL_MARKS)}]@)(?=[^\W_])")  # of which there may be an address
LOCAL_ASCII: Final = ascii_letters + digits + LOCAL_MARKS

TELEPHONE: Final = words(
    "phone",
    "telephone",
    "tel",
    "mobile",
    "cell",
    "cellphone",
    "call",
    "calling",
    "fax",
    "desk",
    "contact",
    "sms",
    "text me",
    "whatsapp",
    "reach",
    "answering",
    "ring",
    "dial",
    "voicemail",
    "messages to",
    "texting",
    "telefon",
    "handy",
    "rufnummer",
    "teléfono",
    "téléphone",
    "telefono",
    "telefone",
    "móvil",
    "celular",
    "gsm",
    "extension",
    "home number",
    "work number",
    "my number",
    "his number",
    "her number",
    "our number",
    "this number",
    "landline",
    "hotline",
    "registered",
    "pager",
    "toll free",
)

BEGIN: Final = r"(?<![\w+])(?<![0-9][-./])(?<![$€£#=])"
FINISH: Final = r"(?:\s?(?:x|ext\.?|extension)\s?[0-9]{1,6})?(?!\w)(?![-./:][0-9])(?!%)"
NORTH_AMERICAN: Final = r"(?:\+?1[-. ]?)?(?:\([2-9][0-9]{2}\)\s?|[2-9][0-9]{2}[-. ])[2-9][0-9]{2}[-. ][0-9]{4}"
INTERNATIONAL: Final = r"(?:\+|00(?=[1-9]))[1-9][0-9]{0,2}(?:[-. ]?\(0?[0-9]{0,4}\))?(?:[-. /]?[0-9]{2,10}+){1,6}+"
NATIONAL: Final = r"\(?0[1-9][0-9]{0,4}\)?(?:[-. /][0-9]{2,8}){1,5}|\(0[1-9][0-9]{0,4}\)[0-9]{4,8}"
PAIRS: Final = r"\(?[0-9]{2,4}\)?(?:([-. ])[0-9]{2,4}(?:\1[0-9]{2}){2,3}|-[0-9]{3,4}-[0-9]{3,4})"
GROUPED: Final = r"\(?[0-9]{1,5}\)?(?:[-. /][0-9]{2,8}){1,5}|[0-9]{7,13}"


DATE: Final = re.compile(
    r"(?:1[89]|20)[0-9]{2}([-./])[01]?[0-9]\1[0-3]?[0-9]|[0-3]?[0-9]([-./])[0-3]?[0-9]\2(?:1[89]|20)?[0-9]{2}"
)


def _is_international(text: str) -> bool:
    return 8 <= len(digits_of(text.lower().partition("x")[0])) <= 16


def _is_national(text: str) -> bool:
    return 9 <= len(digits_of(text.lower().partition("x")[0])) <= 12


def _is_grouped(text: str) -> bool:
    if DATE.fullmatch(text) is not None:
        return False
    return 6 <= len(digits_of(text.lower().partition("x")[0])) <= 13


def _phone(body: str) -> re.Pattern[str]:
    return re.compile(f"{BEGIN}(?:{body}){FINISH}", re.IGNORECASE)


CODE_NAMED: Final = tuple(
    f"{name}{between}"
    for name in ("zip", "zip code", "zipcode", "postal code", "postcode", "post code")
    for between in (" ", ": ", " is ", " is: ")
)
# By context alone: five digits are anything. In the shapes of many countries.
POSTAL_CODES: Final = (
    Recogniser(  # three digits, as in Iceland, right behind the words
        rule="postal_code",
        score=0.7,
        digits_min=3,
        telling=" 000",
        pattern=re.compile(
            rf"[0-9](?:{'|'.join(f'(?<={before}.)' for before in CODE_NAMED)})[0-9]{{2}}(?![\w%-])(?![.,][0-9])",
            re.IGNORECASE,
        ),
    ),
    Recogniser(
        rule="postal_code",
        score=0.1,
        digits_min=2,
        raised=0.7,
        context=words(
            "zip",
            "zip code",
            "zipcode",
            "zip codes",
            "postal code",
            "postcode",
            "post code",
            "postal",
            "código postal",
            "code postal",
            "cap",
            "cep",
            "pincode",
            "pin code",
        ),
        pattern=re.compile(
            r"(?<![\w.,$€£-])(?:[A-Z]{1,2}-)?(?:[0-9]{4,6}(?:-[0-9]{3,4})?|[0-9]{3} [0-9]{2,3}|[0-9]{2}-[0-9]{3}"
            r"|[0-9]{4} ?[A-Z]{2}|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9])"
            r"(?![\w-])(?![.,][0-9])",
            re.IGNORECASE,
        ),
    ),
)

PHONES: Final = (
    Recogniser(
        rule="phone",
        score=0.8,
        digits_min=8,
        context=TELEPHONE,
        raised=SURE,
        check=_is_international,
        pattern=_phone(INTERNATIONAL),
    ),
    Recogniser(
        rule="phone",
        score=0.65,
        digits_min=10,
        context=TELEPHONE,
        raised=0.9,
        pattern=_phone(NORTH_AMERICAN),
    ),
    Recogniser(
        rule="phone",
        score=0.55,
        digits_min=9,
        context=TELEPHONE,
        raised=0.9,
        check=_is_national,
        pattern=_phone(NATIONAL),
    ),
    Recogniser(
        rule="phone",
        score=0.5,
        digits_min=8,
        context=TELEPHONE,
        raised=0.8,
        check=_is_grouped,
        pattern=_phone(PAIRS),
    ),
    Recogniser(
        rule="phone",
        score=0.15,
        digits_min=6,
        context=TELEPHONE,
        raised=RAISED - 0.05,
        check=_is_grouped,
        pattern=_phone(GROUPED),
    ),
)


def email_addresses(text: str, threshold: float) -> list[Finding]:
    """E-mail addresses, each read to both sides of its at sign."""
    found: list[Finding] = []
    if threshold > 1.0:
        return found
    for sign in AT.finditer(text):
        at = sign.start()
        start = at - len(local := text[max(0, at - LOCAL_MOST) : at]) + len(local.rstrip(LOCAL_ASCII))
        while start and at - start < LOCAL_MOST and (text[start - 1].isalnum() or text[start - 1] in LOCAL_MARKS):
            start -= 1  # letters of other scripts are among them
        while start < at and text[start] in NEVER_FIRST:
            start += 1
        domain = EMAIL_DOMAIN.match(text, at + 1) if start < at else None
        if domain is not None:
            found.append(Finding(start=start, end=domain.end(), rule="email", score=1.0))
    return found
