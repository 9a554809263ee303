"""The gateway's admission in virtual time: the same controller, driven by simulated requests, not connections."""

from collections.abc import Callable, Iterator, Sequence
from math import inf

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.admission.controller import AdmissionController, Refuse, Start
from heterodyne.admission.hold import Hold
from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.domain.adapter import Nearness
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import FleetSnapshot, Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.routing.fallback import FallbackRouter
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.health.replica_health import ReplicaHealth
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.settings import RoutingSettings
from heterodyne.simulator.batch import is_line
from heterodyne.simulator.workload import SimulatedRequest

RETRY_AFTER_S = 1


class AdmittedRequest:
    """One that has started: what it holds until its end."""

    __slots__ = ("_admission", "_health", "_hold", "_trial", "choice", "request", "routing_request")

    def __init__(
        self,
        admission: "SimulatedAdmission",
        request: SimulatedRequest,
        routing_request: RoutingRequest,
        choice: RoutingChoice,
        *,
        hold: Hold,
        now_s: float,
    ) -> None:
        self._admission = admission
        self.request = request
        self.routing_request = routing_request
        self.choice = choice
        self._hold = hold
        self._health: ReplicaHealth = admission.health.of(choice.target.id)
        self._trial = self._health.on_start(now_s, routing_request.prompt_tokens)
        admission.limit.enter()
        admission.limit.occupy(choice.target.id)

    def end(self, now_s: float, cached_tokens: int) -> None:
        """Give everything back, with what was used."""
        request, target = self.request, self.choice.target
        share_s = self.choice.forecast.state.speed.share_s(request.prompt_tokens, cached_tokens, request.output_tokens)
        self._health.on_end(Outcome.SUCCESS, now_s, self._trial)
        self._hold.end(tokens=request.prompt_tokens + request.output_tokens, usd=0.0, share_s=share_s)
        self._admission.limit.vacate(target.id)
        self._admission.limit.leave()


class SimulatedAdmission:
    """One per run; callers take turns. Limits that need leases are not simulated."""

    def __init__(
        self,
        fleet: FleetSnapshot,
        router: Router,
        settings: AdmissionSettings,
        *,
        callers: Sequence[Caller] = (LOCAL,),
        chance: Callable[[], float],
    ) -> None:
        self.limit = ConcurrencyLimit(settings.in_flight_max, RETRY_AFTER_S)
        self.health = FleetHealth(RoutingSettings(), fleet, 0.0)
        self._selector = FallbackRouter(
            fleet, self.health, router, fields=_AllFields(), nearness=_no_adapters, chance=chance
        )
        self.book = LimitBook("simulation")
        self._callers = callers
        self.controller = AdmissionController(self._selector, router, self.limit, self.book, settings, chance=chance)
        self.refused: dict[str, int] = {}  # by error code, lines of a batch left out: they are asked again
        self._refused_lines: list[SimulatedRequest] = []

    def publish(self, fleet: FleetSnapshot, now_s: float) -> None:
        """A newer fleet."""
        self._selector.publish(fleet)
        self.health.publish(fleet, now_s)

    def arrive(
        self, request: SimulatedRequest, routing_request: RoutingRequest, now_s: float
    ) -> Iterator[AdmittedRequest]:
        """A request has come; it may start, and so may others that waited."""
        try:
            self.limit.check_room()
        except HeterodyneError as error:
            self._refuse(error, request)
            return
        caller = self._callers[request.number % len(self._callers)]
        hold = Hold(caller, now_s)
        asked = Request(
            id=str(request.number),
            operation=Operation.CHAT,
            model=routing_request.model,
            body=b"",
            stream=True,
            prompt_tokens=request.prompt_tokens,
            deadline_s=inf,
        )
        outcome = self.controller.admit(asked, routing_request, hold, now_s, now_s)
        if isinstance(outcome, Refuse):
            self._refuse(outcome.error, request)
        elif isinstance(outcome, Start):
            yield AdmittedRequest(self, request, routing_request, outcome.choice, hold=hold, now_s=now_s)
        else:
            assert outcome.reservation is None, "callers without limits"
            outcome.pending.handle = request
            yield from self.finished(routing_request.model, now_s)

    def finished(self, model: str, now_s: float) -> Iterator[AdmittedRequest]:
        """There may be room: those whose turn it is."""
        for start in self.controller.finished(model, now_s):
            yield self._started(start, now_s)

    def tick(self, now_s: float) -> Iterator[AdmittedRequest]:
        """Refuse those that have waited too long; start those for whom there is room."""
        for outcome in self.controller.tick(now_s):
            if isinstance(outcome, Refuse):
                assert outcome.pending is not None
                assert isinstance(outcome.pending.handle, SimulatedRequest)
                self._refuse(outcome.error, outcome.pending.handle)
            else:
                yield self._started(outcome, now_s)

    def _started(self, start: Start, now_s: float) -> AdmittedRequest:
        pending = start.pending
        assert pending is not None
        assert isinstance(pending.handle, SimulatedRequest)
        return AdmittedRequest(
            self, pending.handle, pending.routing_request, start.choice, hold=pending.hold, now_s=now_s
        )

    def take_refused_lines(self) -> list[SimulatedRequest]:
        """Of a batch, those that were refused since."""
        lines, self._refused_lines = self._refused_lines, []
        return lines

    def _refuse(self, error: HeterodyneError, request: SimulatedRequest) -> None:
        if is_line(request):
            self._refused_lines.append(request)
            return
        self.refused[error.code] = self.refused.get(error.code, 0) + 1


class _AllFields:
    """Simulated requests have no fields of an engine's own."""

    def able(self, request: Request, replicas: Sequence[Replica]) -> Sequence[Replica]:
        """All."""
        return replicas

    def check(self, request: Request, replicas: Sequence[Replica]) -> None:
        """Nothing to refuse."""


def _no_adapters(replica: Replica, name: str) -> Nearness:
    raise AssertionError(f"{replica.id}: simulated fleets have no adapters, such as {name}")
