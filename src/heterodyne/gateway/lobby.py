"""Between the door and the replicas: a request starts at once where there is room, else it waits for its turn.

    understood -> its part of the limits -> room? -> started
                        |                    |
                  waits for leases     waits in the model's fair queue -> started, too late, or its client has left

What cannot be in time is refused before it waits, and as the queue fills, tiers give way one after another.
"""

from collections.abc import Callable
from functools import partial
from math import inf

from msgspec import structs

from heterodyne.admission.limits.book import Reservation
from heterodyne.admission.limits.headers import rate_headers
from heterodyne.admission.limits.refusal import Refused
from heterodyne.admission.queue.fair_queue import FairQueue
from heterodyne.admission.queue.snapshot import QueueSnapshot
from heterodyne.admission.queue.waiting import Room, Waiting
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.domain.errors import (
    ClientGone,
    DeadlineExceeded,
    Draining,
    EnginesFull,
    HeterodyneError,
    InternalError,
    NoSpareCapacity,
    NotInTime,
    QueueFull,
    Shed,
    UnknownModel,
)
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.backstage import Backstage
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.lease_courier import LeaseCourier, Told
from heterodyne.gateway.model_queues import ModelQueues
from heterodyne.gateway.refusal import answer_error, refused_record
from heterodyne.gateway.stay import Stay
from heterodyne.gateway.visit import Visit
from heterodyne.routing.ask import Ask
from heterodyne.routing.choice import Choice
from heterodyne.routing.policies.objective import BROKEN
from heterodyne.telemetry import log
from heterodyne.telemetry.tracing.context import Trace
from heterodyne.wire.server_connection import ServerConnection, Turn

_log = log.get("gateway")


class Lobby:
    """One per worker."""

    def __init__(
        self,
        back: Backstage,
        courier: LeaseCourier,
        settings: AdmissionSettings,
        *,
        chance: Callable[[], float],
    ) -> None:
        self._back = back
        self._courier = courier
        self._settings = settings
        self._queues = ModelQueues(back, settings, chance=chance)
        self._leasing: set[Visit] = set()
        self._is_pumping = False
        back.on_leave = self.pump

    def receive(
        self,
        connection: ServerConnection,
        request: Request,
        ask: Ask,
        caller: Caller,
        *,
        is_plain: bool,
        arrived_s: float,
        trace: Trace | None = None,
    ) -> Turn:
        """Who answers from here, unless that has been done; raises where nobody could ever."""
        choice = self._try_decide(request, ask)
        stay = Stay(caller, arrived_s, trace)
        if choice is not None and not caller.levels and ask.model not in self._queues and self._has_room(ask, choice):
            exchange = Exchange(self._back, connection, request, ask, stay, is_plain=is_plain)
            exchange.start(choice)
            return exchange
        visit = Visit(
            self,
            connection,
            request,
            ask,
            stay,
            is_plain=is_plain,
            arrived_s=self._back.clock(),
        )
        visit.choice = choice
        try:
            if caller.levels and not self._reserve(visit):
                return visit
            self._place(visit)
        except HeterodyneError as error:
            self._refuse(visit, error)
        except BaseException:
            stay.cancel()
            raise
        finally:
            visit.is_arriving = False
        return visit.turn or visit

    def pump(self, model: str) -> None:
        """There may be room: let those start whose turn it is."""
        queue = self._queues.try_queue(model)
        if queue is None or not len(queue) or self._is_pumping:
            return
        self._is_pumping = True
        try:
            while (waiting := queue.try_take(self._can_start, self._back.clock())) is not None:
                visit = waiting.handle
                assert isinstance(visit, Visit)
                visit.stay.runs(queue, waiting, pace=self._queues.pace(visit))
                visit.waiting = None
                self._queues.meter(visit)
                self._begin(visit)
        finally:
            self._is_pumping = False

    def tick(self) -> None:
        """Refuse those that have waited too long; ask again for the others."""
        now_s = self._back.clock()
        for model, queue in self._queues:
            for waiting in queue.expire(now_s):
                visit = waiting.handle
                assert isinstance(visit, Visit)
                self._refuse(visit, _too_late(visit, now_s))
            if len(queue) and model not in self._back.fleet.snapshot.by_model:
                self._end_queue(queue)
            self.pump(model)

    def abandon(self, visit: Visit) -> None:
        """Its client has left."""
        self._forget(visit)
        self._write_down(visit, ClientGone("The client left before its turn came."))

    def close(self) -> None:
        """Nobody starts any more."""
        for visit in [*self._leasing, *self._queues.visits()]:
            self._refuse(visit, Draining("The gateway shut down before the request's turn came."))

    def configure(self, settings: AdmissionSettings) -> None:
        """Other bounds from the next request on."""
        self._settings = settings
        self._queues.configure(settings)

    @property
    def waiting(self) -> int:
        """Requests that have not started, for whatever reason."""
        return len(self._leasing) + len(self._queues)

    def queue_snapshots(self) -> list[QueueSnapshot]:
        """Every model's queue."""
        now_s = self._back.clock()
        return [queue.snapshot(now_s) for _, queue in self._queues]

    def waiting_by_project(self, most: int) -> dict[str, int]:
        """How many of each project wait for their turn, of the projects with the most."""
        return self._queues.waiting_by_project(most)

    def note_gauges(self) -> None:
        """How many wait, by model and class."""
        self._queues.note_gauges()

    def _end_queue(self, queue: FairQueue) -> None:
        """The model has left the fleet: whoever waits for it is told what whoever comes is told."""
        for waiting in queue.everybody():
            visit = waiting.handle
            assert isinstance(visit, Visit)
            try:
                self._back.decider.decide(visit.request, visit.ask)
            except UnknownModel as error:
                self._refuse(visit, error)
            except HeterodyneError:
                continue  # its turn may come

    def _try_decide(self, request: Request, ask: Ask) -> Choice | None:
        """Where it would go now; None: whoever could take it is full, which waiting helps against."""
        try:
            return self._back.decider.decide(request, ask)
        except (NoSpareCapacity, EnginesFull):
            if not self._settings.queue_max:
                raise
            return None

    def _reserve(self, visit: Visit) -> bool:
        """Whether its part of the limits is set aside; else it is told later. Raises which limit is reached."""
        ask, choice = visit.ask, visit.choice
        usd = 0.0 if choice is None or choice.forecast.usd == inf else choice.forecast.usd
        levels = visit.stay.caller.levels
        found = self._courier.try_reserve(levels, ask.prompt_tokens + round(ask.output_tokens), round(usd * 1e6))
        if isinstance(found, Reservation):
            visit.stay.reserved(self._courier.book, found)
            return True
        if isinstance(found, Refused):
            visit.refused = found
            raise found.as_error()
        self._leasing.add(visit)
        visit.lease = self._courier.wait(found, partial(self._leased, visit))
        return visit not in self._leasing

    def _leased(self, visit: Visit, answer: Told) -> None:
        """May be told before its request has returned from the door."""
        self._leasing.discard(visit)
        visit.lease = None
        if isinstance(answer, Reservation):
            visit.stay.reserved(self._courier.book, answer)
            if not visit.is_arriving:
                self._place_later(visit)
            return
        if isinstance(answer, Refused):
            visit.refused, answer = answer, answer.as_error()
        if visit.is_arriving:
            raise answer
        self._refuse(visit, answer)

    def _place_later(self, visit: Visit) -> None:
        """The same as for one that did not wait; what was decided is old by now."""
        try:
            visit.choice = self._try_decide(visit.request, visit.ask)
            self._place(visit)
        except HeterodyneError as error:
            self._refuse(visit, error)
        except Exception as error:  # noqa: BLE001  # the root of a turn: our mistake must not cost others theirs
            self._fail(visit, error)

    def _place(self, visit: Visit) -> None:
        """Start it where there is room and nobody waits, else have it wait; raises why it may not."""
        queue = self._queues.try_queue(visit.ask.model)
        if visit.choice is not None and self._has_room(visit.ask, visit.choice) and (queue is None or not len(queue)):
            if queue is not None:
                waiting = self._queues.waiting_of(visit, visit.choice.forecast)
                queue.start(waiting)
                visit.stay.runs(queue, waiting)
            self._start(visit)
        elif not self._settings.queue_max:
            assert visit.choice is not None
            self._start(visit)  # engines have queues of their own
        else:
            self._wait(visit, queue or self._queues.queue(visit.ask.model))

    def _wait(self, visit: Visit, queue: FairQueue) -> None:
        now_s = self._back.clock()
        forecast = self._queues.try_forecast(visit.ask, now_s)
        waiting = self._queues.waiting_of(visit, forecast)
        try:
            self._queues.check(visit, forecast, queue, waiting, now_s)
            queue.push(waiting, now_s)
        except (Shed, NotInTime, QueueFull):
            if self._try_degrade(visit):
                self._start(visit)
                return
            raise
        visit.waiting = waiting
        self.pump(visit.ask.model)

    def _try_degrade(self, visit: Visit) -> bool:
        """Whether a smaller model that stands in for the tier has room."""
        rule = self._back.fleet.snapshot.rules.get(visit.ask.model)
        other = None if rule is None else rule.degraded.get(visit.stay.caller.tier)
        if other is None:
            return False
        choice = self._back.decider.try_other(visit.request, visit.ask, other)
        if choice is None or not self._has_room(visit.ask, choice):
            return False
        visit.choice = choice
        return True

    def _can_start(self, waiting: Waiting) -> Room:
        visit = waiting.handle
        assert isinstance(visit, Visit)
        ask = visit.ask
        if ask.ttft_slo_s < inf:
            left_s = ask.ttft_slo_s - (self._back.clock() - visit.arrived_s)
            ask = structs.replace(ask, ttft_slo_s=max(left_s, 1e-3))
        try:
            choice = self._back.decider.decide(visit.request, ask)
        except HeterodyneError:
            return Room.NONE  # whoever is down may be back before the deadline
        if not self._has_room(ask, choice):
            return Room.NONE
        visit.choice = choice
        return Room.YES

    def _has_room(self, ask: Ask, choice: Choice) -> bool:
        """Whether a replica may start on it now.

        One more than it holds would only wait there, where nobody is fair; one more than keeps the promise breaks it
        for others too. A promise that even an idle replica breaks is nobody's fault and no reason to wait.
        """
        forecast = choice.forecast
        seat, load = forecast.seat, forecast.load
        held = self._back.house.by_replica.get(seat.replica.id, 0)
        if held > seat.in_flight:  # of very many requests the router counts a part
            load *= (held + 1) / (seat.in_flight + 1)
        if load > 1.0:
            return False
        return choice.promise != BROKEN or not ask.has_slo or seat.in_flight == 0

    def _begin(self, visit: Visit) -> None:
        """Start one whose turn has come."""
        try:
            self._start(visit)
        except HeterodyneError as error:
            self._refuse(visit, error)
        except Exception as error:  # noqa: BLE001  # the root of a start: our mistake must not cost an answer
            self._fail(visit, error)

    def _fail(self, visit: Visit, error: Exception) -> None:
        _log.error("request_failed", request_id=visit.request.id, exc_info=error)
        self._refuse(visit, InternalError("An internal error; the log has the details."))

    def _start(self, visit: Visit) -> None:
        assert visit.choice is not None
        visit.stay.queued_s = self._back.clock() - visit.arrived_s
        exchange = Exchange(self._back, visit.connection, visit.request, visit.ask, visit.stay, is_plain=visit.is_plain)
        visit.turn = exchange
        if not visit.is_arriving:
            visit.connection.hand_over(exchange)
        exchange.start(visit.choice)

    def _refuse(self, visit: Visit, error: HeterodyneError) -> None:
        self._forget(visit)
        back, refused = self._back, visit.refused
        if refused is not None and refused.is_hopeless:
            back.asks.doubt(visit.ask)
        answer_error(
            error,
            back,
            visit.connection,
            visit.request.id,
            is_plain=visit.is_plain,
            more_headers=b"" if refused is None else rate_headers(refused.pots, back.wall_clock()),
            tier=visit.stay.caller.tier,
        )
        self._write_down(visit, error)

    def _forget(self, visit: Visit) -> None:
        if visit.lease is not None:
            visit.lease.cancel()
            visit.lease = None
        self._leasing.discard(visit)
        waiting, visit.waiting = visit.waiting, None
        if waiting is not None:
            self._queues.queue(visit.ask.model).remove(waiting)
            self._queues.meter(visit)
        visit.stay.cancel()

    def _write_down(self, visit: Visit, error: HeterodyneError) -> None:
        back = self._back
        waited_s = back.clock() - visit.arrived_s
        record = refused_record(
            error,
            visit.request.id,
            back.wall_clock() - waited_s,
            len(visit.request.body),
            caller=visit.stay.caller,
            request=visit.request,
            model=back.fleet.snapshot.model_of(visit.request.model),
            urgency=visit.ask.urgency,
            queued_s=waited_s,
        )
        stay = visit.stay
        if back.tracer is not None and stay.trace is not None:
            record = back.tracer.refused(
                stay.trace,
                record,
                visit.request,
                arrived_s=stay.arrived_s,
                queued_s=0.0 if visit.is_arriving else waited_s,
            )
        back.refused(record, stay.caller, visit.ask.urgency, visit.request.body)


def _too_late(visit: Visit, now_s: float) -> HeterodyneError:
    """What it waits for takes some time too, so a deadline is missed before it has passed."""
    waited = f"after {now_s - visit.arrived_s:.1f} s in the queue"
    if visit.request.deadline_s <= visit.arrived_s + visit.ask.ttft_slo_s:
        return DeadlineExceeded(f"{waited.capitalize()} the deadline could no longer be kept.")
    return NotInTime(f"{waited.capitalize()} the first token could not come within what was promised.", retry_after_s=1)
