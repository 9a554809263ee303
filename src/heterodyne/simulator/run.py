"""The virtual clock: arrivals go through the router to replicas, replicas step, and the router hears what came of it.

Three things happen: a request arrives, a replica wakes, and now and then the router gets what the replicas' metrics
pages say. The same fleet, traffic, policy and seed give the same run, to the last bit.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from math import inf
from random import Random
from typing import Final

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import ModelRule, Replica
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.physics.replica.step import StepResult
from heterodyne.routing.catalogue import check_policy
from heterodyne.routing.fabric.sides import MOVING
from heterodyne.routing.forecast import own_risk
from heterodyne.routing.kv.chain import EMPTY, Chain
from heterodyne.routing.prediction.output_length import OutputLengths
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.simulator.admission import AdmittedRequest, SimulatedAdmission
from heterodyne.simulator.batch import SimulatedLines, is_line
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.gateways import try_gateways
from heterodyne.simulator.growing_fleet import GrowingFleet
from heterodyne.simulator.hand_over import SimulatedHandOver
from heterodyne.simulator.hand_overs import KV_WAKES, HandOvers
from heterodyne.simulator.kv.wiring import store_settings, stores_of
from heterodyne.simulator.replica import SimulatedReplica
from heterodyne.simulator.running_request import RunningRequest
from heterodyne.simulator.simulated_fleet import SimulatedFleet
from heterodyne.simulator.tally import SimulationTally, record_forecast
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import SimulatedRequest, Workload

ARRIVALS_REPORTED: Final = 200  # at a time
BLIND: Final = (KvStrategy.STATELESS, KvStrategy.STICKY)  # strategies for which no gateway looks at prompts


def run(
    pools: Sequence[LaidOutPool],
    traffic: Workload,
    trial: Trial,
    *,
    growing: GrowingFleet | None = None,
    on_arrivals: Callable[[int], None] = lambda _: None,
) -> SimulationTally:
    """Drive the traffic through the fleet until the last request has ended; `on_arrivals` hears how many have come
    since it last did. A `growing` fleet has its replicas from its scaler, and as many of `pools` as that says."""
    check_policy(trial.policy)
    names = [pool.name for pool in pools]
    for change in trial.speed_changes:
        if change.pool not in names:
            raise unknown_name("pool in the fleet", change.pool, names)
    return _Run(pools, traffic, trial, growing).drive(_telling(traffic, on_arrivals))


def _telling(arrivals: Iterable[SimulatedRequest], on_arrivals: Callable[[int], None]) -> Iterator[SimulatedRequest]:
    for number, request in enumerate(arrivals, 1):
        if number % ARRIVALS_REPORTED == 0:
            on_arrivals(ARRIVALS_REPORTED)
        yield request


class _Run:
    def __init__(
        self, pools: Sequence[LaidOutPool], traffic: Workload, trial: Trial, growing: GrowingFleet | None
    ) -> None:
        self._trial = trial
        self._growing = growing
        self._turns_at_s = inf if growing is None else growing.next_at_s
        self._clocks = {pool.name: pool.real_clock() for pool in pools}
        self._speed_changes = deque(trial.speed_changes)
        self._model = pools[0].replicas[0].model
        # What is placed beside interactive work goes by the SLO of the rule.
        slo = trial.slo
        rule = RoutingRule(policy=trial.policy, ttft_slo_s=slo.ttft_s, itl_slo_s=slo.itl_s, kv=trial.kv)
        self._fleet = SimulatedFleet(
            {self._model: ModelRule(routing=rule)},
            self._clocks,
            hash_tokens=traffic.hash_tokens,
            changes=growing is not None,
        )
        for pool in pools:
            count = len(pool.replicas) if growing is None else growing.first(pool.name)
            for listed in pool.replicas[:count]:
                self._fleet.add(pool, listed)
        self._tokens_min = min(pool.sequence_tokens_max for pool in pools)
        self._tokens_max = max(pool.sequence_tokens_max for pool in pools)
        self._lengths = OutputLengths()
        self._running_requests: dict[int, RunningRequest] = {}
        self._events: list[tuple[float, int]] = []  # when, and which replica; stale where it wakes at another time
        stores = stores_of([pool.kv for pool in pools], traffic.hash_tokens)
        self._hand_overs = HandOvers(self._events, self._fleet, stores, changes=trial.link_changes)
        self._gauges_at_s = 0.0
        self._turn = 0  # of the gauges
        self._tally = SimulationTally(self._fleet.replicas)
        priors = {pool.name: pool.prior() for pool in pools}

        def prior(replica: Replica) -> Prior:
            return priors[replica.pool]

        chance = Random(trial.seed).random  # noqa: S311 (no secret)
        fleet = self._fleet.snapshot()
        told = store_settings([pool.kv for pool in pools])
        alone = partial(Router, fleet, prior_of=prior, chance=chance, now_s=0.0, kv_stores=told)
        another = partial(alone, has_others=trial.gateways > 1)
        self._router = another()  # of the request that comes
        self._gateways = try_gateways(trial, self._router, another)
        self._show = self._router.publish if self._gateways is None else self._gateways.publish
        self._look_at_s = 0.0  # when gauges or reports are due
        self._admission = None
        if trial.admission is not None:
            self._admission = SimulatedAdmission(
                fleet, self._router, trial.admission, callers=trial.callers, chance=chance
            )
            self._tally.refusals = self._admission.refused
        self._batch = None
        if trial.batch is not None:
            if self._admission is None:
                raise InvalidSpec("batch: its lines wait for their turn, so that it needs admission")
            self._batch = SimulatedLines(trial.batch, traffic.hash_tokens)
            self._tally.batch = self._batch.tally

    def drive(self, arrivals: Iterable[SimulatedRequest]) -> SimulationTally:
        coming = iter(arrivals)
        request = next(coming, None)
        arrives_at_s = inf if request is None else request.at_s
        events, replicas, growing = self._events, self._fleet.replicas, self._growing
        while True:
            if growing is not None and self._turns_at_s <= min(arrives_at_s, events[0][0] if events else inf):
                if request is None and not self._running_requests and not growing.held:
                    break
                self._grow(growing, self._turns_at_s)
            elif events and events[0][0] < arrives_at_s:
                now_s, number = heappop(events)
                if number == KV_WAKES:
                    self._hand_overs.wake(now_s)
                elif replicas[number].wake_at_s == now_s:
                    self._wake(replicas[number], now_s)
            elif request is not None:
                if arrives_at_s >= self._look_at_s:
                    self._look(arrives_at_s)
                self._arrive(request, arrives_at_s)
                request = next(coming, None)
                arrives_at_s = inf if request is None else request.at_s
            elif self._admission is not None and self._admission.controller.waiting:
                self._publish(self._gauges_at_s)  # nothing runs, and some wait for their time to be over
            else:
                break
        self._tally.kv_arrived, self._tally.kv_failed = self._hand_overs.arrived, self._hand_overs.failed
        return self._tally

    def _wake(self, replica: SimulatedReplica, now_s: float) -> None:
        """Its step ends and its next begins."""
        if now_s >= self._look_at_s:
            self._look(now_s)
        ended = replica.wake(now_s)
        if replica.wake_at_s < inf:
            heappush(self._events, (replica.wake_at_s, replica.number))
        if ended is not None and (ended.prompted or ended.finished):
            self._tell(ended, replica, now_s)
        if replica.reserved:
            self._hand_overs.move(replica, now_s)

    def _chain(self, request: SimulatedRequest) -> Chain:
        """What a gateway knows of the prompt; of a log without hashes, that no other prompt begins so."""
        kv = self._trial.kv
        if kv in BLIND:
            return EMPTY
        if request.chain.hashes or kv not in MOVING:
            return request.chain
        return Chain((request.number,), (request.prompt_tokens,))

    def _arrive(self, request: SimulatedRequest, now_s: float) -> None:
        tokens = request.prompt_tokens + request.output_tokens
        self._tally.last_came_at_s = request.at_s
        if tokens > self._tokens_max:
            self._tally.refused += 1
            return
        slo = self._trial.slo
        routing_request = RoutingRequest(
            model=self._model,
            prompt_tokens=request.prompt_tokens,
            output_tokens=self._lengths.expect(None, None),
            chain=self._chain(request),
            session="" if self._trial.kv is KvStrategy.STATELESS else request.session,
            ttft_slo_s=slo.ttft_s,
            itl_slo_s=slo.itl_s,
        )
        if self._admission is not None:
            self._start_all(self._admission.arrive(request, routing_request, now_s), now_s)
            return
        if self._gateways is not None:
            self._router = self._gateways.draw()
        usable = self._fleet.usable if tokens <= self._tokens_min else self._fleet.able(tokens)
        if self._growing is not None and not usable:
            self._growing.hold(request, now_s)
            self._turns_at_s = self._growing.next_at_s  # the first that is held wakes the scaler
            return
        choice = self._router.decide(routing_request, usable, now_s)
        if self._growing is not None:
            number = self._fleet.numbers[choice.target.id]
            self._growing.start(request, number, own_risk(routing_request, choice.forecast))
        self._start(request, routing_request, choice, now_s)

    def _start(
        self,
        request: SimulatedRequest,
        routing_request: RoutingRequest,
        choice: RoutingChoice,
        now_s: float,
        admitted: AdmittedRequest | None = None,
    ) -> None:
        if self._batch is not None and is_line(request):
            self._batch.start(request, now_s)
        forecast, plan = choice.forecast, choice.kv_plan
        replica = self._fleet.of(choice.target)
        predicted = record_forecast(forecast, now_s) if self._trial.keeps_forecasts else None
        ticket = self._router.start(routing_request, forecast, now_s, plan, kv_withheld=choice.kv_withheld)
        self._running_requests[request.number] = RunningRequest(request, replica, ticket, predicted, admitted)
        job = request.job
        if plan is not None:
            source = None if plan.source is None else self._fleet.of(plan.source.replica)
            self._hand_overs.start(SimulatedHandOver(job, plan, source, replica, ticket), now_s)
            return
        woke_at_s = replica.wake_at_s
        replica.submit(job, now_s)
        if replica.wake_at_s != woke_at_s:
            heappush(self._events, (replica.wake_at_s, replica.number))

    def _tell(self, ended: StepResult, replica: SimulatedReplica, now_s: float) -> None:
        """First tokens and ends, to the router and to the report."""
        running_requests = self._running_requests
        for job_id in ended.prompted:
            running_request = running_requests[job_id]
            if running_request.replica is not replica:
                self._hand_overs.prefilled(job_id, now_s)
            elif running_request.first_at_s is None:
                running_request.first_at_s = now_s
                running_request.ticket.first_token(now_s)
            else:
                continue
            if replica.listed.kv_store:
                self._hand_overs.write(replica, running_request.request.numbers, now_s)
        for job_id, cached_tokens in zip(ended.finished, ended.cached_tokens, strict=True):
            running_request = running_requests[job_id]
            if running_request.replica is not replica:
                continue  # its prompt was computed for another
            del running_requests[job_id]
            request = running_request.request
            running_request.ticket.end(now_s, output_tokens=request.output_tokens, cached_tokens=cached_tokens)
            assert running_request.first_at_s is not None
            running_request.replica.end(
                request.prompt_tokens, request.output_tokens, cached_tokens, now_s - request.at_s
            )
            if self._growing is not None:
                number = running_request.replica.number
                self._growing.end(request, number, running_request.first_at_s, now_s, cached_tokens)
            if self._batch is not None and is_line(request):
                self._batch.end(request, running_request.replica.listed.pool, cached_tokens, now_s)
            else:
                self._lengths.learn(None, request.output_tokens)
                self._tally.end(request, running_request.first_at_s, now_s, cached_tokens, running_request.predicted)
            if running_request.admitted is not None:
                running_request.admitted.end(now_s, cached_tokens)
        if self._admission is not None and ended.finished:
            self._start_all(self._admission.finished(self._model, now_s), now_s)
            self._ask_lines(now_s)

    def _ask_lines(self, now_s: float) -> None:
        """Of the batch, as many as may wait."""
        batch, admission = self._batch, self._admission
        if batch is None or admission is None:
            return
        for refused in admission.take_refused_lines():
            batch.again(refused, now_s)
        while (line := batch.try_next(now_s)) is not None:
            batch.waiting += 1
            routing_request = RoutingRequest(
                model=self._model,
                prompt_tokens=line.prompt_tokens,
                output_tokens=line.output_tokens,
                chain=line.chain,
                urgency=Urgency.BATCH,
                streams=False,
            )
            self._start_all(admission.arrive(line, routing_request, now_s), now_s)
            for refused in admission.take_refused_lines():
                batch.again(refused, now_s)

    def _start_all(self, started: Iterable[AdmittedRequest], now_s: float) -> None:
        for admitted in started:
            self._start(admitted.request, admitted.routing_request, admitted.choice, now_s, admitted)

    def _look(self, now_s: float) -> None:
        """What was due is as it was then: nothing has happened since."""
        if now_s >= self._gauges_at_s:
            self._publish(now_s)
        self._look_at_s = self._gauges_at_s
        if self._gateways is not None:
            self._look_at_s = min(self._look_at_s, self._gateways.take_turns(now_s))

    def _publish(self, now_s: float) -> None:
        """The gauges are what they were when they were last due: nothing has happened since."""
        interval_s, turns = self._trial.gauge_interval_s, self._trial.gauge_turns
        turn = int(now_s / interval_s)
        passed, self._turn = turn - self._turn, turn
        at_s = turn * interval_s
        self._gauges_at_s = at_s + interval_s
        while self._speed_changes and self._speed_changes[0].at_s <= now_s:
            change = self._speed_changes.popleft()
            self._clocks[change.pool].slow_down(change.slowdown)
        self._fleet.read_gauges(turn, passed, turns, at_s)
        fleet = self._fleet.snapshot()
        self._show(fleet, at_s)
        if self._admission is not None:
            self._admission.publish(fleet, at_s)
            self._start_all(self._admission.tick(now_s), now_s)
            self._ask_lines(now_s)

    def _grow(self, growing: GrowingFleet, now_s: float) -> None:
        """The fleet changes: who is ready is listed, who drains takes nothing new, who is gone is forgotten."""
        change = growing.turn(now_s, self._fleet.replicas)
        self._turns_at_s = growing.next_at_s
        for pool, listed in change.ready:
            growing.place(listed.id, self._fleet.add(pool, listed))
        for number in change.drains:
            self._fleet.drain(number, is_draining=True)
        for number in change.stays:
            self._fleet.drain(number, is_draining=False)
        for number in change.gone:
            self._fleet.remove(number)
        if change.is_any:
            self._show(self._fleet.snapshot(), now_s)
        for request in growing.released() if self._fleet.usable else ():
            self._arrive(request, now_s)
