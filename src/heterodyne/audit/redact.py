"""Takes personal and secret things out of a text: a table of patterns, each read once from left to right.

Patterns repeat without bound only possessively, and then from the beginning of a run, so that no text makes them slow.
Of groups the possessive form is an atomic group around them: `(…)*+` takes too much before Python 3.11.5, where the
last turn fails half way.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from ipaddress import AddressValueError, IPv6Address

from msgspec import Struct

ANYTHING_CHARS_MIN = 7  # an IPv4 address; only e-mail and IPv6 addresses can be shorter


class Sensitive(StrEnum):
    """Kinds of what is taken out; a text shows `[kind]` in its place."""

    DATA = "data"
    PRIVATE_KEY = "private-key"
    BEARER = "bearer"
    SECRET = "secret"  # noqa: S105  # a kind, not one of them
    TOKEN = "token"  # noqa: S105  # as above
    EMAIL = "email"
    IBAN = "iban"
    CARD = "card"
    IP = "ip"
    PHONE = "phone"


class Redacted(Struct, frozen=True, kw_only=True):
    """A text that may be kept, and how many things of which kind were in it."""

    text: str
    counts: dict[Sensitive, int]


class Rule(Struct, frozen=True):
    """What one kind looks like. Group 1, where there is one, stays; `length` is how much of a match it really is."""

    kind: Sensitive
    pattern: re.Pattern[str]
    length: Callable[[str], int] | None = None  # 0: it is none


def redact(text: str) -> Redacted:
    """The text without what the rules find."""
    counts: dict[Sensitive, int] = {}
    if len(text) < ANYTHING_CHARS_MIN and "@" not in text and ":" not in text:
        return Redacted(text=text, counts=counts)
    for rule in RULES:
        text, found = _plain(rule, text) if rule.length is None else _measured(rule, rule.length, text)
        if found:
            counts[rule.kind] = counts.get(rule.kind, 0) + found
    return Redacted(text=text, counts=counts)


def is_secret_name(name: str) -> bool:
    """Whether a field of that name holds a secret."""
    return _FIELD_NAME.fullmatch(name) is not None


def _plain(rule: Rule, text: str) -> tuple[str, int]:
    shown = rf"\g<1>[{rule.kind}]" if rule.pattern.groups else f"[{rule.kind}]"
    return rule.pattern.subn(shown, text)


def _measured(rule: Rule, length: Callable[[str], int], text: str) -> tuple[str, int]:
    pieces: list[str] = []
    done = position = found = 0
    while match := rule.pattern.search(text, position):
        size = length(match[0])
        if not size:
            position = match.start() + 1
            continue
        found += 1
        pieces += text[done : match.start()], f"[{rule.kind}]"
        done = position = match.start() + size
    return "".join((*pieces, text[done:])) if found else text, found


def _card_length(candidate: str) -> int:
    """Luhn: every second digit from the right doubled, its digits added, the sum a multiple of ten."""
    digits = candidate.replace(" ", "").replace("-", "")[::-1]
    total = sum(map(int, digits[::2])) + sum(int(digit.translate(_DOUBLED)) for digit in digits[1::2])
    return 0 if total % 10 else len(candidate)


def _iban_length(candidate: str) -> int:
    """The checksum of ISO 13616. Words in capitals may follow, so each length that it may have is tried."""
    for end in range(len(candidate), 14, -1):
        compact = candidate[:end].replace(" ", "")
        if candidate[end - 1] == " " or not 15 <= len(compact) <= 34:
            continue
        if int("".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])) % 97 == 1:
            return end
    return 0


def _ipv6_length(candidate: str) -> int:
    address = candidate.rstrip(".")
    if address.endswith(":") and not address.endswith("::"):
        address = address[:-1]
    if address.count(":") < 2 or len(address) > 45:
        return 0
    try:
        IPv6Address(address)
    except AddressValueError:
        return 0
    return len(address)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.ASCII)


_DOUBLED = str.maketrans("0123456789", "0246813579")
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
_FIELD_NAMES = (
    r"(?i:pass(?:word|wd|phrase)|(?:client[_-]?)?secret(?:[_-]?key)?|(?:x[_-])?api[_-]?key|private[_-]?key|"
    r"(?:access|auth|refresh|id)[_-]?token|token|authorization)"
)
_FIELD_NAME = _pattern(_FIELD_NAMES)

RULES: tuple[Rule, ...] = (
    Rule(Sensitive.DATA, _pattern(r"(data:[\w/+.-]{1,100};base64,)[A-Za-z0-9+/=_-]++")),
    Rule(
        Sensitive.PRIVATE_KEY,
        _pattern(r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?>[\s\S]*?(?=-----|\Z))(?:-----END [A-Z ]{0,32}-----)?"),
    ),
    Rule(Sensitive.BEARER, _pattern(r"(\b(?i:bearer)\s{1,4})(?=[A-Za-z._~+/=-]*+[0-9])[A-Za-z0-9._~+/=-]{8,}+")),
    Rule(
        Sensitive.SECRET,
        _pattern(
            rf"((?<![A-Za-z]){_FIELD_NAMES}[\\\"']{{0,2}}\s{{0,4}}[=:]\s{{0,4}}(?>(?i:(?:basic|bearer)\s{{1,4}})?)[\\\"']{{0,2}})"
            r"(?!\[)[^\s\"'\\,;&]{6,}+"
        ),
    ),
    Rule(Sensitive.SECRET, _pattern(r"(://[^\s/@:]{1,128}:)[^\s/@]{1,256}(?=@)")),
    Rule(
        Sensitive.TOKEN,
        _pattern(
            r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_][\w-]{16,}+|gh[pousr]_\w{20,}+|github_pat_\w{20,}+|glpat-[\w-]{16,}+|"
            r"xox[a-z]-[\w-]{10,}+|A[KS]IA[A-Z0-9]{16}|AIza[\w-]{30,}+|hf_[A-Za-z0-9]{20,}+|npm_[A-Za-z0-9]{20,}+|"
            r"eyJ[\w-]{8,}+(?>(?:\.[\w-]++){0,4}))"
        ),
    ),
    Rule(Sensitive.TOKEN, _pattern(r"(?<![\w-])(?=[A-Za-z_-]*+[0-9])(?=[0-9_-]*+[A-Za-z])[\w-]{40,}+")),
    Rule(Sensitive.EMAIL, _pattern(r"(?<![\w.%+-])[\w.%+-]++@[A-Za-z0-9-]++(?>(?:\.[A-Za-z0-9-]++)+)")),
    Rule(
        Sensitive.IBAN,
        _pattern(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])"),
        _iban_length,
    ),
    Rule(
        Sensitive.CARD,
        _pattern(
            r"(?<![0-9])(?:[2-6][0-9]{3}([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}|"
            r"3[0-9]{3}([ -]?)[0-9]{6}\2[0-9]{4,5})(?![0-9])"
        ),
        _card_length,
    ),
    Rule(Sensitive.IP, _pattern(r"(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:.]++(?!\w)"), _ipv6_length),
    Rule(Sensitive.IP, _pattern(rf"(?<![\w.]){_OCTET}(?:\.{_OCTET}){{3}}(?!\w|\.[0-9])")),
    Rule(Sensitive.PHONE, _pattern(r"(?<![\w+])\+[0-9](?:[ ()./-]{0,2}[0-9]){6,14}(?![0-9])")),
    Rule(Sensitive.PHONE, _pattern(r"(?<![\w+.-])\(?0[0-9](?:[ ()/-]{0,2}[0-9]){6,12}(?![0-9]|\.[0-9])")),
    Rule(Sensitive.PHONE, _pattern(r"(?<![\w.-])(?:\([0-9]{3}\) ?|[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}(?!\w|-[0-9])")),
)
