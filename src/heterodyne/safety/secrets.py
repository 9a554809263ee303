"""API keys and other secrets in a text, by the prefixes their issuers give them, or by a name before them."""

import re
from collections import Counter
from math import log2
from typing import Final

from msgspec import Struct

from heterodyne.safety.finding import Finding
from heterodyne.safety.glance import CAPITAL, DIGIT, ODD, Glance
from heterodyne.safety.overlaps import resolve


class SecretRule(Struct, frozen=True, kw_only=True):
    """One issuer's secrets. The pattern is tried only where a text has the kinds and holds one of the marks."""

    rule: str
    marks: tuple[str, ...]
    telling: str  # kinds of characters that every such secret has in a row; random ones have a digit
    pattern: re.Pattern[str]
    score: float = 1.0


def _rule(rule: str, telling: str, marks: str, body: str) -> SecretRule:
    pattern = re.compile(rf"(?<![A-Za-z0-9_-])(?:{body})(?![A-Za-z0-9_-])")
    return SecretRule(rule=rule, telling=telling, marks=tuple(marks.split()), pattern=pattern)


RULES: Final = (
    _rule("heterodyne_key", "-", "hd-", r"hd-[A-Za-z0-9_-]{32,86}"),
    _rule("anthropic_key", "-", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,200}"),
    _rule("openai_key", "-", "sk-", r"sk-(?!ant-)(?:[a-z]{3,12}-)?(?=[a-z_-]*[A-Z0-9])[A-Za-z0-9_-]{20,220}"),
    _rule("aws_access_key_id", 4 * CAPITAL, "AKIA ASIA", r"(?:AKIA|ASIA)[A-Z2-7]{16}"),
    _rule(
        "github_token",
        "_",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255}",
    ),
    _rule("gitlab_token", "-", "glpat-", r"glpat-[A-Za-z0-9_-]{20,64}"),
    _rule("slack_token", "-", "xox xapp-", r"xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-[0-9]-[A-Za-z0-9-]{10,250}"),
    _rule(
        "stripe_key",
        "_",
        "k_live_ k_test_ whsec_",
        r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,247}|whsec_[A-Za-z0-9+/]{24,64}",
    ),
    _rule(
        "google_key", DIGIT, "AIza ya29. GOCSPX-", r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,500}|GOCSPX-[\w-]{28}"
    ),
    _rule("huggingface_token", "_", "hf_", r"hf_[A-Za-z0-9]{30,64}"),
    _rule("package_token", DIGIT, "npm_ pypi-", r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,250}"),
    _rule("sendgrid_key", DIGIT, "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _rule(
        "cloud_token",
        DIGIT,
        "dop_v1_ dckr_pat_ dapi",
        r"dop_v1_[a-f0-9]{64}|dckr_pat_[A-Za-z0-9_-]{24,64}|dapi[a-f0-9]{32}",
    ),
    _rule("telegram_token", ":", ":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    _rule("jwt", DIGIT, "eyJ", r"eyJ[A-Za-z0-9_-]{8,4096}+\.eyJ[A-Za-z0-9_-]{8,8192}+\.[A-Za-z0-9_-]{16,2048}"),
    SecretRule(
        rule="private_key",
        telling="-",
        marks=("PRIVATE KEY",),
        # A block that has not ended yet is one too: in a stream the end comes later.
        pattern=re.compile(
            r"-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:[^-]++|"
            r"-(?!----))*+(?:-----END [A-Z ]{0,40}-----)?"
        ),
    ),
    SecretRule(
        rule="url_password",
        telling=ODD,
        marks=("://",),
        pattern=re.compile(r"(?<=://)[^\s/:@\"'<>]{1,64}:[^\s/@\"'<>]{1,128}(?=@[\w.-])"),
    ),
)

BY_TELLING: Final = tuple(
    (telling, tuple(rule for rule in RULES if rule.telling == telling))
    for telling in dict.fromkeys(rule.telling for rule in RULES)
)

NAMES: Final = ("pass", "secret", "token", "key", "pwd", "auth", "credential")
# A name that ends in one of the words, something that assigns, and a value. Only the value is the secret.
NAMED: Final = re.compile(
    r"(?P<name>pass(?:word|wd|phrase|code)|pwd|secret|token|api[_ -]?key|access[_ -]?key|private[_ -]?key|auth|"
    r"credentials?)"
    r"[A-Za-z0-9_]{0,24}[\"']?(?:\s{0,3}(?::=|=>|=|:)\s{0,3}|\s+is:?\s+)(?:Bearer\s+|Basic\s+)?"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`<>{}()\[\],;$]{6,256})(?P=quote)(?![\w(\[.])",
    re.IGNORECASE,
)
HUMAN: Final = ("pass", "pwd")  # names of what a person made up, which is short
BITS_PER_CHARACTER: Final = 3.0  # words are below it, keys are above
TOKEN_CHARACTERS: Final = 12
EXAMPLES: Final = re.compile(
    r"(?:your|my|the|some)[-_]|example|changeme|placeholder|x{4}|\*{3}|\.{3}|redacted", re.IGNORECASE
)


def find_secrets(text: str) -> list[Finding]:
    """Every secret of a text, in order; no two overlap."""
    return secrets_in(Glance(text))


def secrets_in(glance: Glance) -> list[Finding]:
    """The same of a text that was glanced at."""
    text, kinds = glance.text, glance.kinds
    found = [
        Finding(start=match.start(), end=match.end(), rule=rule.rule, score=rule.score)
        for telling, rules in BY_TELLING
        if telling in kinds
        for rule in rules
        if _has_any(text, rule.marks)
        for match in rule.pattern.finditer(text)
    ]
    # What is not a password is drawn at random and has digits; a password has at least something odd.
    names = NAMES if DIGIT in kinds else HUMAN if ODD in kinds else ()
    if names and _has_any(text.lower(), names):
        found += _named(text)
    return resolve(found) if found else found


def _has_any(text: str, marks: tuple[str, ...]) -> bool:
    for mark in marks:  # noqa: SIM110  # a generator would take longer than the looks
        if mark in text:
            return True
    return False


def _named(text: str) -> list[Finding]:
    return [
        Finding(start=match.start("value"), end=match.end("value"), rule="named_secret", score=0.8)
        for match in NAMED.finditer(text)
        if _is_secret(match["name"].lower(), match["value"])
    ]


def _is_secret(name: str, value: str) -> bool:
    """A value that somebody chose or drew: digits in it, or more surprise than words have."""
    if EXAMPLES.search(value) is not None:
        return False
    has_digit = any(one.isdigit() for one in value)
    if name.startswith(HUMAN):
        return has_digit or any(not one.isalnum() and one not in "._-:/" for one in value)
    has_letter = any(one.isalpha() for one in value)
    return len(value) >= TOKEN_CHARACTERS and has_digit and has_letter and entropy_bits(value) >= BITS_PER_CHARACTER


def entropy_bits(value: str) -> float:
    """Shannon's entropy of the characters of a value, in bits for each."""
    size = len(value)
    return -sum(count / size * log2(count / size) for count in Counter(value).values())
