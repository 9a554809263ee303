"""Drives the admission controller for proxies' requests: a request is picked for, waits its turn, or is refused."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from heterodyne.admission.controller import AdmissionController, Refuse, Start, Wait
from heterodyne.admission.hold import Hold
from heterodyne.admission.pending_request import PendingRequest
from heterodyne.domain.errors import EngineError, InternalError
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.endpoint_picker.pick import Pick
from heterodyne.gateway.in_flight import InFlight
from heterodyne.gateway.lease_client import LeaseClient, LeaseOutcome
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.upstream import Upstream
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import log

_log = log.get("endpoint_picker")

TICK_S: Final = 0.1

Turn = asyncio.Future[Pick]


class PickGate:
    """One per worker. What waits here is in no queue of the gateway's own; replicas and limits are the same."""

    def __init__(
        self,
        controller: AdmissionController,
        lease_client: LeaseClient,
        upstream: Upstream,
        in_flight: InFlight,
        request_log: RequestLog,
        *,
        wall_clock: Callable[[], float],
    ) -> None:
        self._controller = controller
        self._lease_client = lease_client
        self._upstream = upstream
        self._in_flight = in_flight
        self._log = request_log
        self._wall_clock = wall_clock

    async def pick(
        self, request: Request, routing_request: RoutingRequest, caller: Caller, *, arrived_s: float
    ) -> Pick:
        """Once its turn has come and the replica is ready for it; raises why not. A cancelled one holds nothing."""
        self._in_flight.limit.check_room()
        if self._log.is_audited:
            self._log.check()
        hold, clock = Hold(caller, arrived_s), self._upstream.clock
        outcome = self._controller.admit(request, routing_request, hold, clock(), self._wall_clock())
        if isinstance(outcome, Refuse) and outcome.pending is None:
            raise outcome.error
        if outcome.pending is None:
            assert isinstance(outcome, Start)
            pick = self._start(outcome.choice, request, routing_request, hold)
        else:
            pick = await self._turn(outcome, outcome.pending)
        return await _adapted(pick)

    async def run(self) -> None:
        """Refuse those that have waited too long, start those for whom there is room, until cancelled."""
        while True:
            await asyncio.sleep(TICK_S)
            for outcome in self._controller.tick(self._upstream.clock()):
                self._act(outcome)

    def close(self) -> None:
        """None that waits is picked for any more."""
        for refuse in self._controller.close():
            self._act(refuse)

    async def _turn(self, outcome: Start | Wait | Refuse, pending: PendingRequest) -> Pick:
        turn: Turn = asyncio.get_running_loop().create_future()
        pending.handle = turn
        self._act(outcome)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                turn.result().gone()  # its turn came in the moment in which its client left
            else:
                self._controller.abandon(pending)
            raise

    def _act(self, outcome: Start | Wait | Refuse) -> None:
        pending = outcome.pending
        assert pending is not None
        turn = pending.handle
        assert isinstance(turn, asyncio.Future)
        if isinstance(outcome, Refuse):
            if not turn.done():
                turn.set_exception(outcome.error)
        elif isinstance(outcome, Start):
            self._begin(outcome, pending, turn)
        elif outcome.reservation is not None:
            waiter = self._lease_client.wait(outcome.reservation, partial(self._leased, pending))
            turn.add_done_callback(lambda _: waiter.cancel())
        else:
            self._start_next(pending.routing_request.model)

    def _begin(self, start: Start, pending: PendingRequest, turn: Turn) -> None:
        """At once, so that whoever is looked at next finds the replica as full as it is."""
        try:
            pick = self._start(start.choice, pending.request, pending.routing_request, pending.hold)
        except Exception as error:  # noqa: BLE001  # the root of a start: our mistake must not leave a client waiting
            _log.error("pick_failed", request_id=pending.request.id, exc_info=error)
            self._act(self._controller.refuse(pending, InternalError("An internal error; the log has the details.")))
            return
        if turn.done():
            pick.gone()
        else:
            turn.set_result(pick)

    def _leased(self, pending: PendingRequest, answer: LeaseOutcome) -> None:
        self._act(self._controller.leased(pending, answer, self._upstream.clock()))

    def _start(self, choice: RoutingChoice, request: Request, routing_request: RoutingRequest, hold: Hold) -> Pick:
        return Pick(
            self._upstream,
            self._in_flight,
            self._log,
            request=request,
            routing_request=routing_request,
            hold=hold,
            choice=choice,
            ended=self._start_next,
        )

    def _start_next(self, model: str) -> None:
        """There may be room for another request of the model."""
        for start in self._controller.finished(model, self._upstream.clock()):
            self._act(start)


async def _adapted(pick: Pick) -> Pick:
    """Once the replica has the adapter that is asked for."""
    if pick.use is None:
        return pick
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def then(error: EngineError | None) -> None:
        if ready.done():
            return
        if error is None:
            ready.set_result(None)
        else:
            ready.set_exception(error)

    pick.use.when_ready(then)
    try:
        await ready
    except EngineError as error:
        pick.give_up(error)
        raise
    except asyncio.CancelledError:
        pick.gone()
        raise
    return pick
