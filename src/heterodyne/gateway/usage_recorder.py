"""Keeps the books of one worker: a slot for each request in flight, which outlives us, and a record at its end."""

from math import inf
from typing import Final

from heterodyne.books.cost import whole_micro
from heterodyne.books.encoding import EndingValues, OpeningForm
from heterodyne.books.flight_slots import FlightSlot, FlightSlots
from heterodyne.books.spool import UsageSpool
from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.fleet import Replica
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.domain.urgency import Urgency
from heterodyne.domain.usage import FlightTerms, UsageEnding, UsageOpening
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest

FORMS_MAX: Final = 4096


class UsageRecorder:
    """One per worker."""

    def __init__(self, slots: FlightSlots, spool: UsageSpool) -> None:
        self._slots = slots
        self._spool = spool
        self._forms: dict[tuple[str, str, str, str], tuple[Caller, Replica, OpeningForm]] = {}
        self.open = 0  # slots of requests whose record has not been made
        self._remainder = 0.0  # of a millionth of a dollar, carried from one request to the next

    def place(
        self,
        request: Request,
        routing_request: RoutingRequest,
        caller: Caller,
        forecast: Forecast,
        *,
        at: float,
        slot: FlightSlot | None,
    ) -> FlightSlot:
        """A request is about to be sent, for the first time or, with its `slot`, to another replica.

        Raises StoreUnavailable where nothing could be written down of it.
        """
        replica = forecast.state.replica
        opening = self._form(request, routing_request, caller, replica).fill(request.id, at)
        if slot is None:
            slot = self._slots.open_encoded(opening, _terms(routing_request, forecast))
            self.open += 1
            return slot
        slot.place_encoded(opening, _terms(routing_request, forecast))
        return slot

    def close(self, slot: FlightSlot, ended: EndedRequest) -> None:
        """It has ended. The slot is somebody else's from here."""
        self.open -= 1
        usd_micro, self._remainder = whole_micro(ended.usd or 0.0, self._remainder)
        self._spool.finish(slot, _ending(ended, usd_micro))

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
        self._spool.refused(opening, UsageEnding(status=record.status, reason=record.reason, queue_ms=record.queue_ms))

    def _form(self, request: Request, routing_request: RoutingRequest, caller: Caller, replica: Replica) -> OpeningForm:
        """What requests of one key to one replica have in common, encoded once while both are as they were."""
        names = (caller.key, replica.id, routing_request.urgency, request.operation)
        known = self._forms.get(names)
        if known is not None and known[0] is caller and known[1] is replica:
            return known[2]
        if len(self._forms) >= FORMS_MAX:
            self._forms.clear()
        form = OpeningForm(_opening(request, routing_request, caller, replica))
        self._forms[names] = caller, replica, form
        return form


def _opening(request: Request, routing_request: RoutingRequest, caller: Caller, replica: Replica) -> UsageOpening:
    return UsageOpening(
        id=request.id,
        at=0.0,
        organisation=caller.organisation,
        project=caller.project,
        key=caller.key,
        tier=caller.tier,
        urgency=routing_request.urgency,
        operation=request.operation,
        model=replica.model,
        version=replica.version or "",
        pool=replica.pool,
        replica=replica.id,
        hardware=replica.hardware or "",
    )


def _terms(routing_request: RoutingRequest, forecast: Forecast) -> FlightTerms:
    """What a bill is made of if we do not live to make it."""
    state, answer_tokens = forecast.state, routing_request.output_tokens
    price = state.replica.price
    prompt_s = state.speed.prompts * forecast.work_s
    return FlightTerms(
        prompt_tokens=routing_request.prompt_tokens,
        usd_per_million_prompt_tokens=price.usd_per_million_prompt_tokens,
        usd_per_million_completion_tokens=price.usd_per_million_completion_tokens,
        usd_per_hour=price.usd_per_hour,
        prompt_replica_s=prompt_s,
        token_replica_s=max(0.0, forecast.share_s - prompt_s) / answer_tokens if 0 < answer_tokens < inf else 0.0,
    )


def _ending(ended: EndedRequest, usd_micro: int) -> EndingValues:
    """In the order of UsageEnding's fields: so many names would cost seven times as much."""
    return (
        ended.status,
        ended.reason,
        ended.prompt_tokens,
        ended.cached_tokens,
        ended.completion_tokens,
        ended.reasoning_tokens,
        ended.is_estimated,
        ended.queue_ms,
        ended.ttft_ms,
        ended.itl_ms,
        ended.total_ms,
        ended.predicted_ttft_ms,
        ended.predicted_itl_ms,
        usd_micro,
        ended.is_hosted_price,
        ended.retries,
        ended.is_hedged,
        ended.continuations,
        ended.replica_s,
        ended.promise,
    )
