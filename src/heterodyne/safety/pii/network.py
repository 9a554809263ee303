"""IP and MAC addresses, and URLs."""

import re
from ipaddress import AddressValueError, IPv6Address
from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.pii.recogniser import Recogniser, has_context, words

OCTET: Final = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4: Final = re.compile(rf"(?<![\w.])(?:{OCTET}\.){{3}}{OCTET}(?:/(?:3[0-2]|[12]?[0-9])(?![0-9]))?(?!\w)")
# All that could be IPv6; the standard library says whether it is. 45 characters are the longest there is.
IPV6_CANDIDATE: Final = re.compile(r"(?<![\w.:%])(?=[0-9A-Fa-f:.]{0,40}:)[0-9A-Fa-f:.]{2,45}+(?![\w:])")
COLONS_MIN: Final = 6  # of one that leaves no zeros out
IPV6_SUFFIX: Final = re.compile(r"%[A-Za-z0-9]{1,15}|/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9])(?![0-9])")
IP_WORDS: Final = words("ip", "ipv6", "address", "unspecified", "loopback", "host", "src", "dst", "localhost", "bind")
HEX: Final = "[0-9A-F]"


def _mac(mark: str, body: str) -> Recogniser:
    pattern = re.compile(rf"{HEX}(?<![\w:-].){body}(?![\w:-])", re.IGNORECASE)
    return Recogniser(
        rule="mac_address", score=0.9, pattern=pattern, digits_min=0, telling=mark, telling_min=2 if mark == "." else 5
    )


GENERIC: Final = (
    "com|org|net|edu|gov|mil|int|info|biz|io|ai|app|dev|site|online|store|shop|tech|cloud|xyz|blog|news|club|live|life|"
    "world|today|website|space|email|agency|digital|media|design|solutions|services|company|group|me|tv|co"
)
COUNTRIES: Final = (
    "ac|ae|ar|at|au|be|bg|br|ca|ch|cl|cn|cz|de|dk|ee|es|eu|fi|fr|gr|hk|hr|hu|id|ie|il|in|ir|is|it|jp|kr|lt|lu|lv|ma|mx|"
    "my|ng|nl|no|nz|pe|ph|pk|pt|ro|rs|ru|sa|se|sg|si|sk|th|tn|tr|tw|ua|uk|us|uy|uz|ve|vn|za"
)
URL: Final = re.compile(
    r"(?<![\w@.])(?:https?|ftp|wss?)://(?:[^\s/@\"'<>]{1,128}@)?(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?::[0-9]{1,5})?"
    r"(?:[/?#][^\s\"'<>]*)?(?<![.,;:!?)])",
    re.IGNORECASE,
)
DOMAIN: Final = re.compile(
    rf"(?<![\w@./-])(?:[a-z0-9-]{{1,63}}\.){{1,8}}(?:{GENERIC}|{COUNTRIES})(?![\w-])(?!\.\w)(?!@)(?:/[^\s\"'<>]*)?",
    re.IGNORECASE,
)

IPV4S: Final = (Recogniser(rule="ip_address", score=0.8, pattern=IPV4, digits_min=4, telling="0.0", telling_min=2),)
MACS: Final = (
    _mac(":", f"{HEX}(?::{HEX}{{2}}){{5}}"),
    _mac("-", f"{HEX}(?:-{HEX}{{2}}){{5}}"),
    _mac(".", rf"{HEX}{{3}}(?:\.{HEX}{{4}}){{2}}"),
)
URLS: Final = (
    Recogniser(rule="url", score=0.9, pattern=URL, digits_min=0),
    Recogniser(rule="url", score=0.6, pattern=DOMAIN, digits_min=0),
)


def ipv6_addresses(text: str, threshold: float) -> list[Finding]:
    """IPv6 addresses, with a zone or a prefix length. `::` alone is one beside words of its kind."""
    found = []
    for match in IPV6_CANDIDATE.finditer(text):
        length = _ipv6_length(match[0])
        if not length:
            continue
        end = match.start() + length
        if end == match.end() and (suffix := IPV6_SUFFIX.match(text, end)):
            end = suffix.end()
        score = 0.9
        if length == 2 and end - match.start() == 2 and not has_context(IP_WORDS, text, match.start(), end):
            score = 0.3
        if score >= threshold:
            found.append(Finding(start=match.start(), end=end, rule="ip_address", score=score))
    return found


def _ipv6_length(candidate: str) -> int:
    """How much of a candidate is an address: all, or all but the punctuation of a sentence. 0 when none."""
    if "::" not in candidate and candidate.count(":") < COLONS_MIN:
        return 0
    for one in (candidate, candidate.rstrip("."), candidate.rstrip(".:")):
        try:
            IPv6Address(one)
        except AddressValueError:
            continue
        return len(one)
    return 0
