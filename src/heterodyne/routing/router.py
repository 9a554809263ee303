"""Pure: the router. It keeps the state of every replica, places requests, and learns from each it has placed.

    router.publish(fleet, now_s)                    whenever the control loop does
    choice = router.decide(request, usable, now_s)  a replica, what it should take there, and why
    ticket = router.start(request, choice.forecast, now_s)
    ticket.kv_arrived(now_s, byte_count)            where the choice has a `kv_plan`; or `kv_failed`
    ticket.first_token(now_s)
    ticket.end(now_s, output_tokens=…, cached_tokens=…)

The gateway and the simulator drive the same object, the one by the clock on the wall, the other by its own.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf
from types import MappingProxyType
from typing import Final

from heterodyne.domain.fleet import FleetSnapshot, ModelRule, PoolName, Replica, ReplicaId
from heterodyne.domain.kv_event import KvEvent
from heterodyne.domain.urgency import Urgency
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.claims import Claims
from heterodyne.routing.fabric.fabric import KvFabric
from heterodyne.routing.fabric.holding import KvHolding
from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.kv.exact import ExactBlocks
from heterodyne.routing.kv.gossip import PrefixGossip, SentElsewhere, receive_gossip
from heterodyne.routing.kv.index import PrefixIndex
from heterodyne.routing.kv.prefix_matches import NOTHING_CACHED
from heterodyne.routing.model_router import ModelRouter
from heterodyne.routing.peers.catalogue import PEERS
from heterodyne.routing.picker import Chance
from heterodyne.routing.policies.objective import Objective
from heterodyne.routing.policies.slo import SloObjective
from heterodyne.routing.prediction.pool_speed import PoolSpeed
from heterodyne.routing.prediction.prior import UNKNOWN, Prior
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.reports.learned import LEARNED_SAMPLES_MIN, learned_of
from heterodyne.routing.reports.report import LearnedSpeed, ReplicaLoad, engine_key, pool_key
from heterodyne.routing.routing_choice import Forecast, KvPlan, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.snapshots import PoolSpeedSnapshot, ReplicaStateSnapshot
from heterodyne.routing.ticket import Ticket

NO_RULE: Final = ModelRule()
DEFAULT: Final = SloObjective()
NOTHING: Final = ReplicaLoad()

PriorOf = Callable[[Replica], Prior | None]


class Router:
    """One per worker, or per simulation. Never larger than the latest fleet it was given, plus its bounded indices."""

    def __init__(
        self,
        fleet: FleetSnapshot,
        *,
        prior_of: PriorOf,
        chance: Chance,
        now_s: float,
        has_others: bool = False,
        machine: str = "",
        kv_stores: Mapping[str, KvStoreSettings] = MappingProxyType({}),
    ) -> None:
        """`has_others`: other workers route to the same replicas, and get to know what was computed where. `machine`
        is the name of this one: engines on its loopback interface are nobody else's."""
        self._prior_of = prior_of
        self._machine = machine
        self._by_key: dict[str, ReplicaState] = {}  # by what engines go by in all gateways
        self._chance = chance
        self._index = PrefixIndex()
        self._exact = ExactBlocks(self._index)
        self.fabric = KvFabric(kv_stores)
        self.claims = Claims()
        self._gossip = PrefixGossip() if has_others else None
        self._sent_elsewhere = SentElsewhere()
        self._states: dict[ReplicaId, ReplicaState] = {}
        self._free_places: list[int] = []
        self._limits: dict[int, float] = {}
        self._speeds: dict[PoolName, PoolSpeed] = {}
        self._model_routers: dict[str, ModelRouter] = {}
        self._gone: list[ReplicaState] = []  # of replicas that left before their requests ended
        self._gone_model_routers: list[ModelRouter] = []
        self.publish(fleet, now_s)

    def publish(self, fleet: FleetSnapshot, now_s: float) -> None:
        """Take in replicas that are new, forget those that are gone."""
        present = {replica.id: replica for replica in fleet.replicas}
        for gone in [
            state
            for known, state in self._states.items()
            if known not in present or _has_changed(state.replica, present[known])
        ]:
            self._leave(gone, now_s)
            if gone.replica.id in present:
                self._speeds.pop(gone.replica.pool, None)  # what was learned was learned of something else
        for replica in fleet.replicas:
            state = self._states.get(replica.id)
            if state is None:
                self._states[replica.id] = self._new_state(replica, now_s)
            else:
                state.publish(replica, now_s)
            self._limit(self._states[replica.id])
        self._by_key = {engine_key(state.replica, self._machine): state for state in self._states.values()}
        for key, state in self._by_key.items():
            state.key = key
        self.claims.publish(self._by_key)
        pools = Counter(replica.pool for replica in fleet.replicas)
        self._speeds = {pool: speed for pool, speed in self._speeds.items() if pool in pools}
        for pool, speed in self._speeds.items():
            speed.replicas = pools[pool]
        self._gone = [state for state in self._gone if state.in_flight]
        self._gone_model_routers = [
            model_router
            for model_router in (
                *self._gone_model_routers,
                *(one for model, one in self._model_routers.items() if model not in fleet.by_model),
            )
            if model_router.reserve.now
        ]
        self.fabric.publish(self._states.values())
        self._model_routers = {model: self._model_router(model, fleet) for model in fleet.by_model}
        for model, replicas in fleet.by_model.items():
            prefill = [self._states[replica.id] for replica in fleet.prefill.get(model, ())]
            self._model_routers[model].publish([self._states[replica.id] for replica in replicas], fleet, prefill)

    def decide(self, request: RoutingRequest, usable: Sequence[Replica], now_s: float) -> RoutingChoice:
        """Where to send the request, among replicas of its model that may take it: at least one."""
        return self._model_routers[request.model].choose(request, usable, now_s, self._chance)

    def forecast(self, request: RoutingRequest, replica: ReplicaId, now_s: float) -> Forecast:
        """What it would take there, however the replica was chosen."""
        state = self._states[replica]
        cached = self._index.matches(request.chain).tokens(state.place) if request.chain.hashes else 0.0
        return forecast_on(state, request, cached, now_s)

    def compare(self, request: RoutingRequest, replicas: Sequence[Replica], now_s: float) -> tuple[Forecast, ...]:
        """What it would take on each of these, whether they may be asked or not; nothing is decided."""
        cached = self._index.matches(request.chain) if request.chain.hashes else NOTHING_CACHED
        states = (self._states[replica.id] for replica in replicas)
        return tuple(forecast_on(state, request, cached.tokens(state.place), now_s) for state in states)

    def try_dry_run(self, request: RoutingRequest, usable: Sequence[Replica], now_s: float) -> RoutingChoice | None:
        """What `decide` would say, with nothing left to chance; None where another system's rule decides, for those
        may remember what they are asked."""
        model_router = self._model_routers[request.model]
        if self.policy(request) in PEERS and not (len(usable) == 1 and request.urgency is Urgency.INTERACTIVE):
            return None
        return model_router.choose(request, usable, now_s, _even, is_thorough=True)

    def objective(self, request: RoutingRequest) -> Objective:
        """What the request's forecasts are compared by; where another system's rule decides, what we would go by."""
        model_router = self._model_routers.get(request.model)
        return DEFAULT if model_router is None or self.policy(request) in PEERS else model_router.objective(request)

    def policy(self, request: RoutingRequest) -> str:
        """The name of what decides."""
        model_router = self._model_routers.get(request.model)
        if model_router is None:
            return request.policy or DEFAULT.name
        name = request.policy or model_router.rule.policy
        return name if name in PEERS else model_router.objective(request).name

    def cached_tokens(self, request: RoutingRequest) -> float:
        """The most of its prompt that a replica should have in memory."""
        return self._index.matches(request.chain).longest_tokens if request.chain.hashes else 0.0

    def kv_tokens(self, model: str) -> float:
        """What all replicas of the model can hold; infinite where that is not known."""
        model_router = self._model_routers.get(model)
        return inf if model_router is None else model_router.kv_tokens

    def start(
        self,
        request: RoutingRequest,
        forecast: Forecast,
        now_s: float,
        kv_plan: KvPlan | None = None,
        *,
        kv_withheld: KvPlan | None = None,
    ) -> Ticket:
        """The request is sent to the replica of a forecast made just now; `kv_plan` is brought there first."""
        kv = None if kv_plan is None else KvHolding(request, kv_plan, self.fabric, now_s)
        ticket = Ticket(request, forecast, self._model_routers.get(request.model), now_s, kv)
        if kv_withheld is not None:
            ticket.compare_with(self.fabric.ledger.by_origin[kv_withheld.origin])
        return ticket

    def state(self, replica: ReplicaId) -> ReplicaState | None:
        """What is known of a replica; None: it is not one of the fleet."""
        return self._states.get(replica)

    def on_memory_lost(self, replica: ReplicaId, now_s: float) -> None:
        """It has restarted or emptied its cache: nothing of a prompt is there any more."""
        state = self._states.get(replica)
        if state is not None:
            self._index.forget(state.place)
            self.fabric.forget(state.place)
            state.belief.on_forgotten(now_s)
            for model_router in self._model_routers.values():
                model_router.forget(state.place)

    def on_warmed_up(self, request: RoutingRequest, replica: ReplicaId, now_s: float) -> None:
        """Its prompt was given to the replica, though no user has asked for it there."""
        state, model_router = self._states.get(replica), self._model_routers.get(request.model)
        if state is not None and model_router is not None:
            model_router.prefilled(request, state, now_s)

    def on_kv_event(self, replica: ReplicaId, event: KvEvent, rank: int | None, now_s: float) -> None:
        """The engine tells of its cache."""
        state = self._states.get(replica)
        if state is not None and self._exact.on_kv_event(state.place, event, rank):
            self.on_memory_lost(replica, now_s)

    def on_kv_gap(self, replica: ReplicaId, now_s: float) -> None:
        """Some of the engine's events were lost: what it still holds is not known, though it may be much."""
        state = self._states.get(replica)
        if state is not None:
            self._exact.on_gap(state.place)
            state.belief.on_forgotten(now_s)

    def on_kv_restart(self, replica: ReplicaId, now_s: float) -> None:
        """From here on events report everything the engine holds, and may have begun anew."""
        state = self._states.get(replica)
        if state is not None:
            self._exact.on_restart(state.place)
            self.on_memory_lost(replica, now_s)

    def take_gossip(self) -> bytes | None:
        """The next message for other workers; None: there are none, or nothing is left to send."""
        return None if self._gossip is None else self._gossip.take()

    def receive_gossip(self, message: bytes) -> int:
        """A message of another worker; raises `ValueError` where it cannot be read."""
        return receive_gossip(message, self._index, self._sent_elsewhere, self._place_of, self._settle)

    def keys(self) -> Mapping[ReplicaId, str]:
        """What the engines of all replicas go by in all gateways."""
        return {replica: state.key for replica, state in self._states.items()}

    def loads(self, now_s: float) -> dict[str, ReplicaLoad]:
        """What this worker has in flight, for others: by engine, of those that have something."""
        return {key: state.load(now_s) for key, state in self._by_key.items() if state.has_load}

    def hear_loads(self, loads: Mapping[str, ReplicaLoad], now_s: float) -> None:
        """What all other workers have in flight; it takes the place of what was heard before."""
        for key, state in self._by_key.items():
            load = loads.get(key)
            if load is not None:
                state.hear(load, now_s)
            elif state.has_heard:
                state.hear(NOTHING, now_s)

    def learned(self, now_s: float) -> dict[str, LearnedSpeed]:
        """What this worker has learned of each pool, for others."""
        speeds = self._speeds.values()
        return {speed.key: learned_of(speed, now_s) for speed in speeds if speed.heard_at_s > -inf}

    def hear_learned(self, learned: Mapping[str, LearnedSpeed]) -> None:
        """What all other workers have learned and send. A pool of which little is known here begins from that, once:
        later its own requests teach it, or workers would believe what they have heard from themselves."""
        for speed in self._speeds.values():
            heard = learned.get(speed.key)
            speed.heard_prompt_share = 0.0 if heard is None else heard.prompt_rate / speed.replicas
            if heard is not None and heard.samples >= LEARNED_SAMPLES_MIN > speed.samples:
                speed.try_begin_from(heard.ttft_factors, heard.itl_factors, heard.answer_tokens)

    @property
    def index(self) -> PrefixIndex:
        """What replicas should have in memory."""
        return self._index

    @property
    def gossip_dropped(self) -> int:
        """Prompts that other workers do not know of, as their messages were not taken in time."""
        return 0 if self._gossip is None else self._gossip.dropped

    def snapshot(self) -> tuple[list[ReplicaStateSnapshot], int]:
        """The sums of every replica that may hold something, and interactive requests in flight."""
        states = [state.snapshot() for state in (*self._states.values(), *self._gone)]
        return states, sum(
            model_router.reserve.now for model_router in (*self._model_routers.values(), *self._gone_model_routers)
        )

    def trusts(self) -> Mapping[ReplicaId, float]:
        """How far the prefix index is believed about each replica."""
        return {replica: state.trust for replica, state in self._states.items()}

    def speeds(self) -> Mapping[PoolName, PoolSpeedSnapshot]:
        """What has been learned of each pool."""
        return {pool: speed.snapshot() for pool, speed in self._speeds.items()}

    def _model_router(self, model: str, fleet: FleetSnapshot) -> ModelRouter:
        rule = fleet.rules.get(model, NO_RULE).routing
        model_router = self._model_routers.get(model)
        if model_router is None:
            return ModelRouter(rule, self._index, self.fabric, self._gossip)
        if model_router.rule != rule:
            model_router.take(rule)
        return model_router

    def _new_state(self, replica: Replica, now_s: float) -> ReplicaState:
        speed = self._speeds.get(replica.pool)
        if speed is None:
            speed = self._speeds[replica.pool] = PoolSpeed(self._prior_of(replica) or UNKNOWN)
            speed.key = pool_key(replica)
        place = self._free_places.pop() if self._free_places else len(self._states)
        return ReplicaState(replica, place, speed, now_s)

    def _limit(self, state: ReplicaState) -> None:
        """The index remembers no more of a replica than it holds; a place keeps its limit until it is given another."""
        if self._limits.get(state.place) != state.kv_tokens:
            self._limits[state.place] = state.kv_tokens
            self._index.limit(state.place, state.kv_tokens)

    def _place_of(self, key: str) -> int | None:
        state = self._by_key.get(key)
        return None if state is None else state.place

    def _settle(self, model: str, session: str, place: int) -> None:
        model_router = self._model_routers.get(model)
        if model_router is not None:
            model_router.settle(session, place)

    def _leave(self, state: ReplicaState, now_s: float) -> None:
        """Requests still there end on a state that is not routed to."""
        self.on_memory_lost(state.replica.id, now_s)
        state.is_gone = True
        self._exact.leave(state.place)
        del self._states[state.replica.id]
        self._gone.append(state)
        self._free_places.append(state.place)


def _even() -> float:
    return 0.5


def _has_changed(before: Replica, now: Replica) -> bool:
    """Whether the same name stands for something else: another pool, model or make."""
    return _identity(before) != _identity(now)


def _identity(replica: Replica) -> tuple[object, ...]:
    return replica.pool, replica.model, replica.hardware, replica.tp, replica.engine, replica.version
