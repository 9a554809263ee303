"""Pure: the KV's origin as a part of the choice: once the best replica without it is known, what else is possible.

Each possibility is a forecast like any other, and the model's objective ranks them all; computing the prompt wins where
they are as good. A possibility costs what it is thought to take, a margin for what is not known of its link, and,
by the chance that it fails, computing everything after all. Few are looked at, and none where the prompt takes no
longer to compute than any transfer takes to begin.
"""

from math import inf
from typing import Final, final

from heterodyne.domain.fleet import Health
from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.fabric.fabric import COPIES, HANDS_OVER, KvFabric
from heterodyne.routing.forecast import forecast_on, own_risk
from heterodyne.routing.kv.links import KvLink, store_end
from heterodyne.routing.kv.prefix_matches import NOTHING_CACHED, PrefixMatches
from heterodyne.routing.picker import Chance
from heterodyne.routing.policies.objective import Objective, Rank
from heterodyne.routing.predictive import REASONS, Pool, soonest
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast, KvPlan, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

WORTH_S: Final = 0.005  # computing what is missing of the prompt takes this at least, or nothing is looked at
DECODE_TOKENS: Final = 2048  # of a prompt, that a decode replica may compute where others could: it has the rest
TARGETS_MAX: Final = 5
HOLDERS_MAX: Final = 8
SENDERS_MAX: Final = 2  # that are looked at for each target
DECODE: Final = ReplicaRole.DECODE
READY: Final = Health.READY


@final
class KvSides:
    """Whence KV of one model's prompts may come."""

    __slots__ = ("by_place", "moves", "prefilling", "splits")

    def __init__(self, *, moves: bool, splits: bool) -> None:
        self.moves = moves  # what is held may be brought
        self.splits = splits  # prompts may be computed elsewhere
        self.by_place: dict[int, ReplicaState] = {}  # all of its replicas
        self.prefilling: list[Pool] = []  # those that compute prompts for others, and may be asked now


def with_kv(
    request: RoutingRequest,
    best: RoutingChoice,
    *,
    pools: list[Pool],
    decoding: list[Pool],
    sides: KvSides,
    cached: PrefixMatches,
    objective: Objective,
    fabric: KvFabric,
    now_s: float,
    chance: Chance,
) -> RoutingChoice:
    """The best choice of these pools, or a better one with KV that is brought there, or to one of those that are
    `decoding` beside them. Its rank is never a worse one."""
    plain = best.forecast
    if plain.state.speed.prompts * plain.work_s < WORTH_S or best.reason is Reason.EXPLORED:
        return best
    if best.reason is Reason.LEAST_LOADED and objective.name != "load":
        return best  # forecasts are no guide
    search = _Search(
        request,
        best,
        decoding=decoding,
        sides=sides,
        cached=cached,
        objective=objective,
        fabric=fabric,
        now_s=now_s,
    )
    held = fabric.on_hosts(request.chain) if sides.moves else NOTHING_CACHED
    targets = search.targets(pools, held, chance)
    if sides.moves:
        for state in targets:
            search.offer_held(state, held)
    senders = search.senders(chance)
    for state in targets:
        for sender in senders:
            search.offer_prefill(state, sender)
    return search.choice()


@final
class _Search:
    """What is possible for one request."""

    __slots__ = (
        *(
            "_best",
            "_cached",
            "_chosen",
            "_decoding",
            "_fabric",
            "_holders",
            "_now_s",
            "_objective",
            "_options",
            "_plain",
        ),
        *("_prompt", "_rank", "_request", "_sides", "_warm"),
    )

    def __init__(
        self,
        request: RoutingRequest,
        best: RoutingChoice,
        *,
        decoding: list[Pool],
        sides: KvSides,
        cached: PrefixMatches,
        objective: Objective,
        fabric: KvFabric,
        now_s: float,
    ) -> None:
        self._request = request
        self._best = best
        self._plain = best.forecast
        self._decoding = decoding
        self._sides = sides
        self._cached = cached
        self._objective = objective
        self._fabric = fabric
        self._now_s = now_s
        self._rank: Rank = objective.rank(request, best.forecast)
        self._chosen: KvPlan | None = None
        self._warm: Forecast | None = None  # of a decode replica that has nearly all of the prompt
        self._options: list[KvPlan] = []
        self._holders = _holders(cached, sides.by_place)
        self._prompt: RoutingRequest | None = None

    def targets(self, pools: list[Pool], held: PrefixMatches, chance: Chance) -> list[ReplicaState]:
        """Where it might be answered: the best without KV brought, the least busy of each pool, who has a part."""
        request, now_s = self._request, self._now_s
        targets = [self._plain.state]
        for states in (*self._decoding, *pools):
            state = soonest(request, states, NOTHING_CACHED, now_s=now_s, chance=chance)
            if len(targets) < TARGETS_MAX and not _has(targets, state):
                targets.append(state)
        answering = [*self._decoding, *pools]
        for holder in _holders(held, self._sides.by_place)[:SENDERS_MAX]:
            if not _has(targets, holder) and any(_has(states, holder) for states in answering):
                targets.append(holder)
        for holder in self._holders:
            if holder.replica.role is DECODE and any(_has(states, holder) for states in self._decoding):
                self._try_warm(holder)
        return targets

    def offer_held(self, state: ReplicaState, held: PrefixMatches) -> None:
        """What other replicas, its store and its host have of the prompt and it has not."""
        fabric, now_s, replica = self._fabric, self._now_s, state.replica
        own = self._own(state)
        if replica.kv_host_bytes:
            self._offer(
                KvOrigin.HOST,
                state,
                own,
                held.tokens(state.place),
                link=fabric.link_from_host(state),
                sender=replica.id,
            )
        if replica.kv_store:
            tokens = float(fabric.in_store(state, self._request.chain, now_s))
            link, end = fabric.link_from_store(state), store_end(replica.kv_store)
            self._offer(KvOrigin.STORE, state, own, tokens, link=link, sender=end, store=replica.kv_store)
        if replica.kv_transfer in COPIES and replica.kv_layout:
            looked_at = 0
            for source in self._holders:
                if looked_at == SENDERS_MAX:
                    break
                if _fit(source, state):
                    looked_at += 1
                    link = fabric.link_between(source, state)
                    self._offer(
                        KvOrigin.PEER, state, own, self._own(source), link=link, sender=source.replica.id, source=source
                    )

    def senders(self, chance: Chance) -> list[Forecast]:
        """Of the prompt alone: on the prefill replicas where it would be done soonest, and on those that have most of
        it and can only pass it on as they compute."""
        sides, now_s, cached = self._sides, self._now_s, self._cached
        if not sides.splits and not (sides.moves and self._holders):
            return []
        states: list[ReplicaState] = []
        if sides.splits:
            prompt = self._prompt_alone()
            states = [soonest(prompt, pool, cached, now_s=now_s, chance=chance) for pool in sides.prefilling]
        for holder in self._holders[:SENDERS_MAX]:
            transfer = holder.replica.kv_transfer
            if transfer in HANDS_OVER and transfer not in COPIES and not _has(states, holder):
                states.append(holder)
        if not states:
            return []
        prompt = self._prompt_alone()
        forecasts = [forecast_on(state, prompt, cached.tokens(state.place), now_s) for state in states]
        forecasts.sort(key=_ttft_s)
        return forecasts[: 2 * SENDERS_MAX]

    def offer_prefill(self, state: ReplicaState, prefill: Forecast) -> None:
        """The one computes the prompt for the other, which computes its last token again to have something to say."""
        source, replica = prefill.state, state.replica
        if replica.kv_transfer in HANDS_OVER and _fit(source, state):
            tokens = self._request.prompt_tokens - 1.0
            link = self._fabric.link_between(source, state)
            self._offer(
                KvOrigin.PREFILL,
                state,
                self._own(state),
                tokens,
                link=link,
                sender=source.replica.id,
                source=source,
                prefill=prefill,
            )

    def choice(self) -> RoutingChoice:
        """What came out best."""
        best, chosen = self._best, self._chosen
        options = tuple(self._options)
        if chosen is not None:
            forecast = chosen.forecast
        elif self._warm is not None:
            forecast = self._warm
        else:
            return best if not options else _same(best, options)
        reason = best.reason
        if reason is Reason.ONLY_POOL or reason is Reason.ONLY_REPLICA:
            reason = REASONS[self._objective.name]
        others = (*best.others, best.forecast)
        return RoutingChoice(forecast, self._rank[0], reason, others, kv_plan=chosen, kv_options=options)

    def _offer(
        self,
        origin: KvOrigin,
        state: ReplicaState,
        own: float,
        tokens: float,
        *,
        link: KvLink,
        sender: str,
        source: ReplicaState | None = None,
        store: str = "",
        prefill: Forecast | None = None,
    ) -> None:
        request, now_s, speed, fabric = self._request, self._now_s, state.speed, self._fabric
        if tokens > request.prompt_tokens - 1.0:
            tokens = request.prompt_tokens - 1.0
        if tokens <= own or now_s < link.paused_until_s:
            return
        if state.replica.role is DECODE and self._decoding and request.prompt_tokens - tokens > DECODE_TOKENS:
            return
        token_s = speed.prompt_token_s + speed.prompt_token_squared_s * (tokens + own)
        again_s = speed.prompts * (tokens - own) * token_s
        byte_count = (tokens - own) * fabric.token_bytes(state)
        queued_s = link.bytes_s(fabric.moving_bytes(sender), now_s)
        moved_s = queued_s + link.takes_s(byte_count, now_s)
        failing = link.failing(now_s)
        brought_s = moved_s * (1.0 + link.margin()) + failing * again_s
        if prefill is None:
            if brought_s >= again_s:
                return
        else:
            brought_s += prefill.ttft_s
            moved_s += prefill.ttft_s
        forecast = forecast_on(
            state, request, self._cached.tokens(state.place), now_s, brought_tokens=tokens, brought_s=brought_s
        )
        if state.usd_per_s < inf:
            forecast.usd += failing * again_s * state.usd_per_s
        if prefill is not None:
            forecast.usd += prefill.usd
            harm = prefill.risk - own_risk(self._prompt_alone(), prefill)
            if harm > 0.0:
                forecast.risk += harm
        plan = KvPlan(
            origin,
            forecast,
            tokens=tokens,
            byte_count=byte_count,
            takes_s=moved_s,
            queued_s=queued_s,
            saved_s=self._plain.ttft_s - forecast.ttft_s,
            saved_usd=self._plain.usd - forecast.usd if self._plain.usd < inf and forecast.usd < inf else 0.0,
            source=source,
            store=store,
            prefill=prefill,
        )
        self._options.append(plan)
        rank = self._objective.rank(request, forecast)
        if rank < self._rank:
            self._rank, self._chosen = rank, plan

    def _try_warm(self, state: ReplicaState) -> None:
        """It has nearly all: what is left is not worth sending elsewhere."""
        request = self._request
        if request.prompt_tokens - self._own(state) > DECODE_TOKENS:
            return
        forecast = forecast_on(state, request, self._cached.tokens(state.place), self._now_s)
        rank = self._objective.rank(request, forecast)
        if rank < self._rank:
            self._rank, self._warm = rank, forecast

    def _own(self, state: ReplicaState) -> float:
        return self._cached.tokens(state.place) * state.trust

    def _prompt_alone(self) -> RoutingRequest:
        """The request as a prefill replica sees it."""
        if self._prompt is None:
            self._prompt = self._request.copied()
            self._prompt.output_tokens = 1.0
            self._prompt.itl_slo_s = inf
            self._prompt.streams = True
        return self._prompt


def _holders(cached: PrefixMatches, by_place: dict[int, ReplicaState]) -> list[ReplicaState]:
    """Those that have most of the prompt and may be asked for it, the most first."""
    found: list[ReplicaState] = []
    for _, places in reversed(cached.lengths):
        for place in places:
            state = by_place.get(place)
            if state is not None and state.replica.health is READY:
                found.append(state)
                if len(found) == HOLDERS_MAX:
                    return found
    return found


def _fit(source: ReplicaState, target: ReplicaState) -> bool:
    """Whether the one has a use for KV of the other."""
    ours, theirs = source.replica, target.replica
    return (
        source is not target
        and ours.kv_layout != ""
        and ours.kv_layout == theirs.kv_layout
        and ours.kv_transfer == theirs.kv_transfer
        and ours.model == theirs.model
    )


def _same(best: RoutingChoice, options: tuple[KvPlan, ...]) -> RoutingChoice:
    return RoutingChoice(
        best.forecast,
        best.slo_outlook,
        best.reason,
        best.others,
        is_repeated=best.is_repeated,
        kv_options=options,
    )


def _has(states: list[ReplicaState], wanted: ReplicaState) -> bool:
    return any(state is wanted for state in states)


def _ttft_s(forecast: Forecast) -> float:
    return forecast.ttft_s
