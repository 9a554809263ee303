"""Gathers, at a request's end, what its race and its continuation know of it."""

from heterodyne.admission.hold import Hold
from heterodyne.domain.request import Usage
from heterodyne.gateway.continuation import Continuation
from heterodyne.gateway.finished import Finished
from heterodyne.gateway.race import Race
from heterodyne.gateway.relay import StreamRelay

UNCOUNTED_EVENTS_MAX = 2  # of a stream: who speaks, and why it ended


def finished_of(
    race: Race,
    continuation: Continuation,
    relay: StreamRelay | None,
    *,
    hold: Hold,
    status: int,
    reason: str,
    reported: Usage | None,
    first_byte_at_s: float,
    response_bytes: int,
    keeps_answer: bool,
    is_chunked: bool,
) -> Finished:
    """The facts of one request; `relay` is the stream that the client got, if it got one."""
    events, itl_s = 0, None
    if relay is not None:
        events = relay.events
        counted = relay.usage
        # Some engines count as they go, which is better than counting events if it has kept up with them.
        if reported is None and counted is not None and continuation.partial is None:
            reported = counted if counted.completion_tokens >= events - UNCOUNTED_EVENTS_MAX else None
        if events > 1:
            itl_s = (relay.last_at_s - relay.first_at_s) / (events - 1)
    # In the order of its fields: so many names would cost five times as much.
    return Finished(
        race.request,
        race.routing_request,
        hold,
        race.choice,
        race.wire.replica if race.wire is not None else None,
        status,
        reason,
        reported,
        events + continuation.events_before,
        itl_s,
        race.started_at_s,
        first_byte_at_s,
        race.upstream.clock(),
        continuation.bytes_before + response_bytes,
        race.retries,
        continuation.count,
        race.is_hedged,
        race.tries,
        race.slot,
        race.trace,
        continuation.kept if continuation.kept and keeps_answer else [],
        race.request.stream and is_chunked,
    )
