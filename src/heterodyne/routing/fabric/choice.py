"""Pure: the KV's origin as a part of the choice: once the best replica without it is known, what else is possible.

Each possibility is a forecast like any other, and the model's objective ranks them all; computing the prompt wins where
they are as good. A possibility costs what it is thought to take, a margin for what is not known of its link, and,
by the chance that it fails, computing everything after all. Few are looked at, and none where the prompt takes no
longer to compute than any transfer takes to begin.
"""

from math import inf
from typing import Final, final

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.fabric.decode_alone import DECODE, DECODE_TOKENS, decode_alone
from heterodyne.routing.fabric.fabric import COPIES, HANDS_OVER, KvFabric, fit
from heterodyne.routing.fabric.ledger import CHECKED_SHARE
from heterodyne.routing.fabric.offer import KvOffer
from heterodyne.routing.fabric.senders import holders, may_send
from heterodyne.routing.fabric.sides import KvSides
from heterodyne.routing.forecast import KEPT, forecast_after, forecast_on, own_risk
from heterodyne.routing.kv.links import KvLink, store_end
from heterodyne.routing.kv.prefix_matches import NOTHING_CACHED, PrefixMatches
from heterodyne.routing.picker import Chance
from heterodyne.routing.policies.objective import Objective, Rank
from heterodyne.routing.predictive import REASONS, Pool, soonest
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast, KvPlan, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

WORTH_S: Final = 0.005  # computing what is missing of the prompt takes this at least, or nothing is looked at
TARGETS_MAX: Final = 3  # and those whose host has it
SENDERS_MAX: Final = 2  # that are looked at for each target


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
    is_thorough: bool = False,
) -> RoutingChoice:
    """The best choice of these pools, or a better one with KV that is brought there, or to one of those that are
    `decoding` beside them. Its rank is never a worse one. A thorough look forecasts what cannot be better, too."""
    plain = best.forecast
    is_short = not request.chain.hashes or plain.state.speed.prompts * plain.work_s < WORTH_S
    if best.reason is Reason.EXPLORED or (is_short and (not decoding or plain.wait_s < WORTH_S)):
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
        is_thorough=is_thorough,
    )
    if decoding:
        search.try_alone(chance)
    if not is_short:
        search.look(pools, chance)
    return search.choice(chance)


@final
class _Search:
    """What is possible for one request."""

    __slots__ = (
        *(
            "_alone",
            "_alone_all",
            "_best",
            "_cached",
            "_chosen",
            "_decoding",
            "_fabric",
            "_holders",
            "_is_picky",
            "_is_thorough",
            "_now_s",
        ),
        *("_objective", "_options", "_plain", "_prompt", "_rank", "_request", "_sides", "_stored"),
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
        is_thorough: bool,
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
        self._is_thorough = is_thorough
        self._rank: Rank = objective.rank(request, best.forecast)
        self._chosen: KvPlan | None = None
        self._alone: Forecast | None = None  # of a decode replica that has nearly all of the prompt, if it is best
        self._alone_all: tuple[Forecast, ...] = ()
        self._options: list[KvPlan] = []
        self._is_picky = bool(request.prefill_out) or request.regions is not None or not fabric.pinned.is_empty
        self._holders = [one for one in holders(request, cached, sides.by_place) if self._may_send(one)]
        self._stored: dict[tuple[str, str], float] = {}  # tokens, by store and layout
        self._prompt = request.copied()  # as a prefill replica sees it
        self._prompt.output_tokens = 1.0
        self._prompt.itl_slo_s = inf
        self._prompt.streams = True

    def try_alone(self, chance: Chance) -> None:
        """At decode replicas that need nothing brought: those that have most of the prompt, and the least busy."""
        request, now_s = self._request, self._now_s
        free = [soonest(request, states, NOTHING_CACHED, now_s=now_s, chance=chance) for states in self._decoding]
        alone = decode_alone(request, self._decoding, [*self._holders, *free], self._cached, now_s)
        self._alone_all = tuple(alone)
        for forecast in alone:
            rank = self._objective.rank(request, forecast)
            if rank < self._rank:
                self._rank, self._alone = rank, forecast

    def look(self, pools: list[Pool], chance: Chance) -> None:
        """At the replica that is best without KV brought, the least busy of each pool, and those whose host has it."""
        request, now_s, sides = self._request, self._now_s, self._sides
        answering = [*self._decoding, *pools]
        soonest_of = [soonest(request, states, NOTHING_CACHED, now_s=now_s, chance=chance) for states in answering]
        targets = [state for state in soonest_of if state is not self._plain.state]
        if len(targets) >= TARGETS_MAX:
            targets.sort(key=_free_at_s)
        targets = [self._plain.state, *targets[: TARGETS_MAX - 1]]
        if sides.moves:
            held = self._fabric.on_hosts(request.chain)
            for holder in holders(request, held, sides.by_place)[:SENDERS_MAX]:
                if holder not in targets and any(holder in states for states in answering):
                    targets.append(holder)
            for state in targets:
                self._offer_held(state, held)
        # A prompt that is computed elsewhere goes to those that only answer, if there are any, or to the best of all.
        if self._decoding:
            targets = [*soonest_of[: len(self._decoding)], self._plain.state]
        for sender in self._senders(chance):
            beginning_s = sender.ttft_s
            own = own_risk(self._prompt, sender)
            harm = sender.risk - own if sender.risk > own else 0.0
            if not self._is_late(beginning_s):
                for state in targets:
                    self._offer_prefill(state, sender, harm)

    def choice(self, chance: Chance) -> RoutingChoice:
        """What came out best; now and then what comes out best without KV brought, for comparison."""
        best, chosen = self._best, self._chosen
        options = tuple(self._options)
        alone = self._alone_all
        if chosen is not None and chance() < CHECKED_SHARE:
            return best.compared(options, alone, withheld=chosen)
        if chosen is not None:
            forecast = chosen.forecast
        elif self._alone is not None:
            forecast = self._alone
        else:
            return best if not options and not alone else best.compared(options, alone)
        reason = best.reason
        if reason is Reason.ONLY_POOL or reason is Reason.ONLY_REPLICA:
            reason = REASONS[self._objective.name]
        others = (*best.others, best.forecast)
        return RoutingChoice(
            forecast, self._rank[0], reason, others, kv_plan=chosen, kv_options=options, plain=self._plain, alone=alone
        )

    def _offer_held(self, state: ReplicaState, held: PrefixMatches) -> None:
        """What its host, its store or another replica has of the prompt and it has not: the quickest of them."""
        fabric, replica = self._fabric, state.replica
        own = self._own(state)
        offers = []
        on_host = held.tokens(state.place) * state.trust
        if on_host > own:
            offer = KvOffer(KvOrigin.HOST, None, "")
            offer.tokens = on_host
            if self._weigh(offer, state, own, fabric.link_from_host(state), replica.id):
                offers.append(offer)
        if replica.kv_store and self._in_store(state) > own:
            offer = KvOffer(KvOrigin.STORE, None, replica.kv_store)
            offer.tokens = self._in_store(state)
            if self._weigh(offer, state, own, fabric.link_from_store(state), store_end(replica.kv_store)):
                offers.append(offer)
        if replica.kv_layout and replica.kv_transfer in COPIES:
            for source in self._holders:
                if fit(source, state):
                    tokens = self._own(source)
                    if tokens <= own:
                        break
                    offer = KvOffer(KvOrigin.PEER, source, "")
                    offer.tokens = tokens
                    if self._weigh(offer, state, own, fabric.link_between(source, state), source.replica.id):
                        offers.append(offer)
                    break
        if len(offers) > 1 and not self._is_thorough:
            offers = [min(offers, key=_brought_s)]
        for offer in offers:
            self._take(offer, state, None, 0.0)

    def _senders(self, chance: Chance) -> list[Forecast]:
        """Of the prompt alone: on the prefill replicas where it would be done soonest, and on those that have most of
        it and can only pass it on as they compute."""
        sides, now_s, cached, prompt = self._sides, self._now_s, self._cached, self._prompt
        states: list[ReplicaState] = []
        if sides.splits:
            pools = sides.prefilling
            if self._is_picky:
                pools = [[state for state in pool if self._may_send(state)] for pool in pools]
            states = [soonest(prompt, pool, cached, now_s=now_s, chance=chance) for pool in pools if pool]
        for holder in self._holders[:SENDERS_MAX]:
            transfer = holder.replica.kv_transfer
            if transfer in HANDS_OVER and transfer not in COPIES and holder not in states:
                states.append(holder)
        forecasts = [forecast_on(state, prompt, cached.tokens(state.place), now_s) for state in states]
        forecasts.sort(key=_ttft_s)
        return forecasts[:SENDERS_MAX]

    def _offer_prefill(self, state: ReplicaState, prefill: Forecast, harm: float) -> None:
        """The one computes the prompt for the other, which computes its last token again to have something to say."""
        source = prefill.state
        if state.replica.kv_transfer in HANDS_OVER and fit(source, state):
            offer = KvOffer(KvOrigin.PREFILL, source, "")
            offer.tokens = float(self._request.prompt_tokens)
            link = self._fabric.link_between(source, state)
            if self._weigh(offer, state, self._own(state), link, source.replica.id, begins_s=prefill.ttft_s):
                self._take(offer, state, prefill, harm)

    def _weigh(
        self, offer: KvOffer, state: ReplicaState, own: float, link: KvLink, sender: str, *, begins_s: float = 0.0
    ) -> bool:
        """What it takes; whether that may be better than what is known."""
        request = self._request
        tokens = offer.tokens
        if tokens > request.prompt_tokens - 1.0:
            offer.tokens = tokens = request.prompt_tokens - 1.0
        if tokens <= own or self._now_s < link.paused_until_s:
            return False
        if self._decoding and request.prompt_tokens - tokens > DECODE_TOKENS and state.replica.role is DECODE:
            return False
        if not offer.weigh(state, own, link, self._fabric, sender=sender, begins_s=begins_s, now_s=self._now_s):
            return False
        # The least that its forecast can say: what waits there already, the rest of the prompt, steps it shares.
        speed, least_s = state.speed, state.free_at_s - self._now_s
        if least_s < 0.0:
            least_s = 0.0
        if state.in_flight:
            least_s += speed.steps * (1.5 if speed.mixes_prompts else 0.5) * (speed.step_s + state.batch_s)
        least_s += speed.prompts * (speed.prompt_s + (request.prompt_tokens - tokens) * speed.prompt_token_s)
        return not self._is_late(offer.brought_s + speed.ahead_s + least_s)

    def _is_late(self, seconds: float) -> bool:
        """Whether a first token after that cannot come first by any rank."""
        rank = self._rank
        return not self._is_thorough and rank[0] == KEPT and seconds >= rank[1] and self._objective.name == "slo"

    def _take(self, offer: KvOffer, state: ReplicaState, prefill: Forecast | None, harm: float) -> None:
        """The forecast, which is ranked with all others."""
        request, plain = self._request, self._plain
        forecast = forecast_after(state, request, offer.tokens, offer.brought_s, self._now_s)
        if state.usd_per_s < inf:
            forecast.usd += offer.again_s * state.usd_per_s
        if prefill is not None:
            forecast.usd += prefill.usd
            forecast.risk += harm
        plan = KvPlan(
            offer.origin,
            forecast,
            tokens=offer.tokens,
            byte_count=offer.byte_count,
            takes_s=offer.takes_s,
            queued_s=offer.queued_s,
            saved_s=plain.ttft_s - forecast.ttft_s,
            saved_usd=plain.usd - forecast.usd if plain.usd < inf and forecast.usd < inf else 0.0,
            source=offer.source,
            store=offer.store,
            prefill=prefill,
        )
        self._options.append(plan)
        rank = self._objective.rank(request, forecast)
        if rank < self._rank:
            self._rank, self._chosen = rank, plan

    def _may_send(self, state: ReplicaState) -> bool:
        return not self._is_picky or may_send(state, self._request, self._fabric.pinned, self._now_s)

    def _own(self, state: ReplicaState) -> float:
        return self._cached.tokens(state.place) * state.trust

    def _in_store(self, state: ReplicaState) -> float:
        key = state.replica.kv_store, state.replica.kv_layout
        tokens = self._stored.get(key)
        if tokens is None:
            tokens = self._stored[key] = float(self._fabric.in_store(state, self._request.chain, self._now_s))
        return tokens


def _free_at_s(state: ReplicaState) -> float:
    return state.free_at_s


def _brought_s(offer: KvOffer) -> float:
    return offer.brought_s


def _ttft_s(forecast: Forecast) -> float:
    return forecast.ttft_s
