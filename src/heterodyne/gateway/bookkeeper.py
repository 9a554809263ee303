"""Keeps the books of one worker: a slot for each request in flight, which outlives us, and a record at its end."""

from math import inf

from heterodyne.books.cost import whole_micro
from heterodyne.books.flight_slots import FlightSlot, FlightSlots
from heterodyne.books.spool import Spool
from heterodyne.domain.fleet import Replica
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.domain.urgency import Urgency
from heterodyne.domain.usage import FlightTerms, UsageEnding, UsageOpening
from heterodyne.routing.ask import Ask
from heterodyne.routing.forecast import Forecast


class Bookkeeper:
    """One per worker."""

    def __init__(self, slots: FlightSlots, spool: Spool) -> None:
        self._slots = slots
        self._spool = spool
        self._remainder = 0.0  # of a millionth of a dollar, carried from one request to the next

    def place(
        self,
        request: Request,
        ask: Ask,
        caller: Caller,
        forecast: Forecast,
        *,
        at: float,
        slot: FlightSlot | None,
    ) -> FlightSlot:
        """A request is about to be sent, for the first time or, with its `slot`, to another replica.

        Raises StoreUnavailable where nothing could be written down of it.
        """
        opening, terms = _opening(request, ask, caller, forecast.seat.replica, at), _terms(ask, forecast)
        if slot is None:
            return self._slots.open(opening, terms)
        slot.place(opening, terms)
        return slot

    def close(self, slot: FlightSlot, record: RequestRecord) -> None:
        """It has ended. The slot is somebody else's from here."""
        usd_micro, self._remainder = whole_micro(record.usd or 0.0, self._remainder)
        self._spool.finish(slot, _ending(record, usd_micro))

    def refused(self, record: RequestRecord, caller: Caller, urgency: Urgency) -> None:
        """A known caller's request that no replica was asked for."""
        opening = UsageOpening(
            id=record.id,
            at=record.at,
            organisation=caller.organisation,
            project=caller.project,
            key=caller.key,
            tier=caller.tier,
            urgency=urgency,
            operation=record.operation,
            model=record.model,
        )
        self._spool.refused(opening, _ending(record, 0))


def _opening(request: Request, ask: Ask, caller: Caller, replica: Replica, at: float) -> UsageOpening:
    return UsageOpening(
        id=request.id,
        at=at,
        organisation=caller.organisation,
        project=caller.project,
        key=caller.key,
        tier=caller.tier,
        urgency=ask.urgency,
        operation=request.operation,
        model=replica.model,
        version=replica.version or "",
        pool=replica.pool,
        replica=replica.id,
        hardware=replica.hardware or "",
    )


def _terms(ask: Ask, forecast: Forecast) -> FlightTerms:
    """What a bill is made of if we do not live to make it."""
    seat, answer_tokens = forecast.seat, ask.output_tokens
    price = seat.replica.price
    prompt_s = seat.speed.prompts * forecast.work_s
    return FlightTerms(
        prompt_tokens=ask.prompt_tokens,
        usd_per_million_prompt_tokens=price.usd_per_million_prompt_tokens,
        usd_per_million_completion_tokens=price.usd_per_million_completion_tokens,
        usd_per_hour=price.usd_per_hour,
        prompt_replica_s=prompt_s,
        token_replica_s=max(0.0, forecast.share_s - prompt_s) / answer_tokens if 0 < answer_tokens < inf else 0.0,
    )


def _ending(record: RequestRecord, usd_micro: int) -> UsageEnding:
    return UsageEnding(
        status=record.status,
        reason=record.reason,
        prompt_tokens=record.prompt_tokens,
        cached_tokens=record.cached_tokens,
        completion_tokens=record.completion_tokens,
        reasoning_tokens=record.reasoning_tokens,
        is_estimated=record.is_estimated,
        queue_ms=record.queue_ms,
        ttft_ms=record.ttft_ms,
        itl_ms=record.itl_ms,
        total_ms=record.total_ms,
        predicted_ttft_ms=record.predicted_ttft_ms,
        predicted_itl_ms=record.predicted_itl_ms,
        usd_micro=usd_micro,
        is_hosted_price=record.is_hosted_price,
        retries=record.retries,
        is_hedged=record.is_hedged,
        continuations=record.continuations,
        replica_s=record.replica_s,
    )
