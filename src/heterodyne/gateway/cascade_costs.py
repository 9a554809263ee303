"""What cascades cost and how long they take, beside the big model alone.

What the big model would have cost is measured where it answered, and else predicted for an answer as long as the cheap
one's: by the same router, as if it were asked now.
"""

from collections.abc import Mapping
from math import inf
from typing import Final

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.request import Request, Usage
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import metrics

# What a cascade's own requests are for, which stands in their records; further answers of the cheap model, its judges.
TRIED: Final = "tried"
AUDITED: Final = "audited"
BIG: Final = "big"
CHEAP: Final = "cheap"
INSTEAD: Final = "instead"
ANSWERED: Final = "answered"


# What a request that a cascade sends is for, and its name; no header of a client's has a colon in its name.
SENT_FOR: Final = b":cascade-for"
SENT_BY: Final = b":cascade-by"


def sent_for(what: str, name: str) -> dict[bytes, bytes]:
    """The headers of a request that a cascade sends."""
    return {SENT_FOR: what.encode(), SENT_BY: name.encode()}


def note_sent(headers: Mapping[bytes, bytes], request: Request) -> None:
    """Whether it is one, for its record."""
    what = headers.get(SENT_FOR)
    if what is not None:
        request.cascade_name = headers[SENT_BY].decode()
        request.cascade = word_of(what.decode(), request.cascade_name)


def word_of(which: str, why: str) -> str:
    """As records have it."""
    return f"{which}; {why}"


def count_ended(request: Request, ended: EndedRequest) -> None:
    """One that a cascade decided about, or sent itself, has ended."""
    name, usd = request.cascade_name, ended.usd or 0.0
    which = ended.cascade.partition(";")[0]
    if which in (TRIED, AUDITED):
        metrics.cascade_usd.add((name, which), usd)
        return
    took_s = ended.total_ms / 1000
    if which == BIG:
        metrics.cascade_usd.add((name, BIG), usd)
        metrics.cascade_seconds.add((name, INSTEAD), took_s)
    elif usd:  # by its prompt alone: there was no request of the cascade's own
        metrics.cascade_usd.add((name, TRIED), usd)
    metrics.cascade_seconds.add((name, ANSWERED), took_s + (ended.queue_ms or 0.0) / 1000)


def count_instead(name: str, asked: RoutingRequest, choice: RoutingChoice | None, cheap: Usage | None) -> None:
    """The big model is not asked; `choice` is where it would have been, and `cheap` what the cheap answer used."""
    if choice is None:
        return
    forecast, state = choice.forecast, choice.forecast.state
    answer_tokens = int(asked.output_tokens) if cheap is None else cheap.completion_tokens
    share_s = state.speed.share_s(asked.prompt_tokens, 0, answer_tokens)
    usd = state.usd(asked.prompt_tokens, answer_tokens, share_s)
    if usd < inf:
        metrics.cascade_usd.add((name, INSTEAD), usd)
    metrics.cascade_seconds.add((name, INSTEAD), forecast.ttft_s + forecast.itl_s * answer_tokens)
