"""Keeps the books of one worker: a slot for each request in flight, which outlives us, and a record at its end."""

from math import inf
from typing import Final, final

from heterodyne.books.cost import whole_micro
from heterodyne.books.encoding import EndingValues, OpeningForm, TermsValues
from heterodyne.books.flight_slots import FlightSlot, FlightSlots
from heterodyne.books.spool import UsageSpool
from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.fleet import Replica
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.domain.urgency import Urgency
from heterodyne.domain.usage import UsageEnding, UsageOpening
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest

FORMS_MAX: Final = 4096


@final
class _Form:
    """What requests of one key to one replica have in common, encoded once while both are as they were."""

    __slots__ = ("answer_usd", "caller", "hour_usd", "opening", "price", "prompt_usd", "replica")

    def __init__(self, caller: Caller, replica: Replica, opening: OpeningForm, *, is_batch: bool) -> None:
        price = replica.price
        self.caller = caller
        self.replica = replica
        self.opening = opening
        self.prompt_usd = price.usd_per_million_prompt_tokens
        self.answer_usd = price.usd_per_million_completion_tokens
        self.hour_usd = price.usd_per_hour
        if is_batch and self.hour_usd is not None:
            self.hour_usd *= caller.batch_price
        self.price = None if price.is_plain else price  # of hosted capacity; None: the three say it all

    def terms(self, routing_request: RoutingRequest, forecast: Forecast) -> TermsValues:
        """What a bill is made of if we do not live to make it, in the order of FlightTerms' fields."""
        answer_tokens = routing_request.output_tokens
        prompt_s = forecast.state.speed.prompts * forecast.work_s
        token_s = max(0.0, forecast.share_s - prompt_s) / answer_tokens if 0 < answer_tokens < inf else 0.0
        prompt_tokens, prompt_usd, answer_usd = routing_request.prompt_tokens, self.prompt_usd, self.answer_usd
        if self.price is not None:
            plain = self.price.plain(prompt_tokens, forecast.cached_tokens)
            prompt_usd, answer_usd = plain.usd_per_million_prompt_tokens, plain.usd_per_million_completion_tokens
        return prompt_tokens, prompt_usd, answer_usd, self.hour_usd, prompt_s, token_s


class UsageRecorder:
    """One per worker."""

    def __init__(self, slots: FlightSlots, spool: UsageSpool) -> None:
        self._slots = slots
        self._spool = spool
        self._forms: dict[tuple[str, str, str, str], _Form] = {}
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
        form = self._form(request, routing_request, caller, replica)
        opening, terms = form.opening.fill(request.id, at), form.terms(routing_request, forecast)
        if slot is None:
            slot = self._slots.open_encoded(opening, terms)
            self.open += 1
            return slot
        slot.place_encoded(opening, terms)
        return slot

    def close(self, slot: FlightSlot, ended: EndedRequest) -> None:
        """It has ended. The slot is somebody else's from here."""
        self.open -= 1
        usd_micro, self._remainder = whole_micro(ended.usd or 0.0, self._remainder)
        self._spool.finish(slot, _ending(ended, usd_micro))

    def refused(self, record: RequestRecord, caller: Caller, urgency: Urgency) -> None:
        """A known caller's request that no replica was asked for."""
        ending = UsageEnding(status=record.status, reason=record.reason, queue_ms=record.queue_ms)
        self._spool.add(_unplaced(record, caller, urgency), ending)

    def ready(self, ended: EndedRequest, caller: Caller, urgency: Urgency) -> None:
        """An answer that no replica was asked for: it costs nothing, and what it saved is written down."""
        ending = UsageEnding(
            status=ended.status,
            reason=ended.reason,
            prompt_tokens=ended.prompt_tokens,
            cached_tokens=ended.cached_tokens,
            completion_tokens=ended.completion_tokens,
            reasoning_tokens=ended.reasoning_tokens,
            is_estimated=ended.is_estimated,
            ttft_ms=ended.ttft_ms,
            total_ms=ended.total_ms,
            promise=ended.promise,
            saved_usd_micro=round((ended.saved_usd or 0.0) * 1e6),
        )
        self._spool.add(_unplaced(ended, caller, urgency), ending)

    def _form(self, request: Request, routing_request: RoutingRequest, caller: Caller, replica: Replica) -> _Form:
        names = (caller.key, replica.id, routing_request.urgency, request.operation)
        known = self._forms.get(names)
        if known is not None and known.caller is caller and known.replica is replica:
            return known
        if len(self._forms) >= FORMS_MAX:
            self._forms.clear()
        opening = OpeningForm(_opening(request, routing_request, caller, replica))
        is_batch = routing_request.urgency is Urgency.BATCH
        form = self._forms[names] = _Form(caller, replica, opening, is_batch=is_batch)
        return form


def _unplaced(told: RequestRecord | EndedRequest, caller: Caller, urgency: Urgency) -> UsageOpening:
    """Of a request that no replica was asked for."""
    return UsageOpening(
        id=told.id,
        at=told.at,
        organisation=caller.organisation,
        project=caller.project,
        key=caller.key,
        tier=caller.tier,
        urgency=urgency,
        operation=told.operation,
        model=told.model,
        pool=told.pool,
    )


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
        0,
    )
