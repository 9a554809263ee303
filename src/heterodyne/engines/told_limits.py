"""Reads what providers say of their rate limits in the heads of their answers, in each one's words.

What cannot be read is left out: a header is a hint, and never a reason to lose an answer.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from heterodyne.domain.provider_limit import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    REQUESTS,
    TOKENS,
    ProviderLimit,
    ToldLimits,
)

Headers = Mapping[bytes, bytes]

VALUE_BYTES_MAX: Final = 64
COUNT: Final = re.compile(rb"\d{1,15}")
SECONDS: Final = re.compile(rb"\d{1,9}(\.\d{1,9})?")
DURATION: Final = re.compile(rb"(\d{1,9}(?:\.\d{1,9})?)(ms|d|h|m|s)")  # of these one or more, as "6m0s"
UNIT_S: Final = {b"ms": 0.001, b"s": 1.0, b"m": 60.0, b"h": 3600.0, b"d": 86400.0}
OPENAI: Final = ((REQUESTS, b"requests"), (TOKENS, b"tokens"))
ANTHROPIC: Final = (
    (REQUESTS, b"requests"),
    (TOKENS, b"tokens"),
    (INPUT_TOKENS, b"input-tokens"),
    (OUTPUT_TOKENS, b"output-tokens"),
)


def openai_limits(headers: Headers) -> ToldLimits | None:
    """`x-ratelimit-remaining-requests` and its like, of OpenAI, Azure and many who speak as they do."""
    found = []
    for what, word in OPENAI:
        remaining = _try_count(headers.get(b"x-ratelimit-remaining-" + word))
        if remaining is not None:
            limit = _try_count(headers.get(b"x-ratelimit-limit-" + word))
            reset_s = _try_duration_s(headers.get(b"x-ratelimit-reset-" + word))
            found.append(ProviderLimit(what, remaining, limit, reset_s))
    return _told(found, headers)


def anthropic_limits(headers: Headers) -> ToldLimits | None:
    """`anthropic-ratelimit-requests-remaining` and its like; when all of it is back is a time of day."""
    found = []
    for what, word in ANTHROPIC:
        remaining = _try_count(headers.get(b"anthropic-ratelimit-%b-remaining" % word))
        if remaining is not None:
            limit = _try_count(headers.get(b"anthropic-ratelimit-%b-limit" % word))
            reset_s = _try_until_s(headers.get(b"anthropic-ratelimit-%b-reset" % word), headers)
            found.append(ProviderLimit(what, remaining, limit, reset_s))
    return _told(found, headers)


def no_limits(headers: Headers) -> ToldLimits | None:
    """Of a provider that says no more than when to come back."""
    return _told([], headers)


def _told(found: list[ProviderLimit], headers: Headers) -> ToldLimits | None:
    retry_after_s = _try_retry_after_s(headers)
    return None if not found and retry_after_s is None else ToldLimits(tuple(found), retry_after_s)


def _try_retry_after_s(headers: Headers) -> float | None:
    """The finer of both headers goes first; a date counts from the answer's own."""
    value = headers.get(b"retry-after-ms")
    if value is not None and SECONDS.fullmatch(value):
        return float(value) / 1000
    value = headers.get(b"retry-after")
    if value is None or SECONDS.fullmatch(value):
        return None if value is None else float(value)
    at = _try_date(value)
    now = _try_date(headers.get(b"date"))
    return None if at is None or now is None else max(0.0, (at - now).total_seconds())


def _try_count(value: bytes | None) -> float | None:
    """Azure says -1 of what it does not limit."""
    return float(value) if value is not None and COUNT.fullmatch(value) else None


def _try_duration_s(value: bytes | None) -> float | None:
    """As Go writes it, `1m30.5s`; Azure gives whole seconds without a unit."""
    if value is None or len(value) > VALUE_BYTES_MAX:
        return None
    if SECONDS.fullmatch(value):
        return float(value)
    parts = DURATION.findall(value)
    if not parts or b"".join(number + unit for number, unit in parts) != value:
        return None
    return sum(float(number) * UNIT_S[unit] for number, unit in parts)


def _try_until_s(value: bytes | None, headers: Headers) -> float | None:
    """From the answer's own `date`, so that it does not matter whose clock is right."""
    now = _try_date(headers.get(b"date"))
    if value is None or now is None or len(value) > VALUE_BYTES_MAX:
        return None
    try:
        at = datetime.fromisoformat(value.decode("ascii"))
    except ValueError:
        return None
    return max(0.0, (_in_utc(at) - now).total_seconds())


def _try_date(value: bytes | None) -> datetime | None:
    if value is None or len(value) > VALUE_BYTES_MAX:
        return None
    try:
        return _in_utc(parsedate_to_datetime(value.decode("ascii")))
    except (ValueError, OverflowError):
        return None


def _in_utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
