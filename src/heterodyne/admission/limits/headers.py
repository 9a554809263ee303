"""Pure: the `x-ratelimit-*` headers of an answer, by OpenAI's names; of several limits the tightest counts."""

from collections.abc import Sequence
from math import ceil

from heterodyne.admission.limits.pot import Measure, Pot

_REQUESTS, _TOKENS = int(Measure.REQUESTS), int(Measure.TOKENS)


def rate_headers(pots: Sequence[Pot], now_s: float) -> bytes:
    """Header lines, each ended; empty where neither requests nor tokens are limited.

    What remains is as this worker last heard: other workers may have used some of it since.
    """
    requests = tokens = None
    for pot in pots:
        if pot.place == _REQUESTS:
            if requests is None or pot.left + pot.free < requests.left + requests.free:
                requests = pot
        elif pot.place == _TOKENS and (tokens is None or pot.left + pot.free < tokens.left + tokens.free):
            tokens = pot
    lines = "" if requests is None else _lines("requests", requests, now_s)
    if tokens is not None:
        lines += _lines("tokens", tokens, now_s)
    return lines.encode()


def _lines(word: str, pot: Pot, now_s: float) -> str:
    remaining = pot.left + pot.free
    reset_s = ceil(pot.ends_s - now_s)
    return (
        f"x-ratelimit-limit-{word}: {pot.limit}\r\n"
        f"x-ratelimit-remaining-{word}: {remaining if remaining > 0 else 0}\r\n"
        f"x-ratelimit-reset-{word}: {reset_s if reset_s > 0 else 0}s\r\n"
    )
