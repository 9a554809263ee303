"""Pure: the `x-ratelimit-*` headers of an answer, by OpenAI's names; of several limits the tightest counts."""

from collections.abc import Sequence
from math import ceil
from typing import Final

from heterodyne.admission.limits.leased_counter import LeasedCounter, Measure

_REQUESTS: Final = int(Measure.REQUESTS)
_TOKENS: Final = int(Measure.TOKENS)


def rate_headers(leased_counters: Sequence[LeasedCounter], now_s: float) -> bytes:
    """Header lines, each ended; empty where neither requests nor tokens are limited.

    What remains is as this worker last heard: other workers may have used some of it since.
    """
    requests = tokens = None
    for leased_counter in leased_counters:
        if leased_counter.place == _REQUESTS:
            if requests is None or leased_counter.left + leased_counter.free < requests.left + requests.free:
                requests = leased_counter
        elif leased_counter.place == _TOKENS and (
            tokens is None or leased_counter.left + leased_counter.free < tokens.left + tokens.free
        ):
            tokens = leased_counter
    lines = "" if requests is None else _lines("requests", requests, now_s)
    if tokens is not None:
        lines += _lines("tokens", tokens, now_s)
    return lines.encode()


def _lines(word: str, leased_counter: LeasedCounter, now_s: float) -> str:
    remaining = leased_counter.left + leased_counter.free
    reset_s = ceil(leased_counter.ends_s - now_s)
    return (
        f"x-ratelimit-limit-{word}: {leased_counter.limit}\r\n"
        f"x-ratelimit-remaining-{word}: {remaining if remaining > 0 else 0}\r\n"
        f"x-ratelimit-reset-{word}: {reset_s if reset_s > 0 else 0}s\r\n"
    )
