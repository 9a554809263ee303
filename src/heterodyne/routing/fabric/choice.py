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
from heterodyne.routing.fabric.senders import holders, may_send, only_hands_over
from heterodyne.routing.fabric.sides import KvSides
from heterodyne.routing.forecast import KEPT, forecast_after, forecast_on, least_ttft_s, own_risk
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
HOLDERS_MAX: Final = 8
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
        *("_alone", "_alone_all", "_answering", "_best", "_cached", "_chosen", "_decoding", "_fabric", "_holders"),
        *("_is_picky", "_is_thorough", "_now_s", "_objective", "_options", "_plain", "_rank", "_request", "_sides"),
        "_stored",
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
        self._answering: list[ReplicaState] = []  # of each pool that only answers, the first to be free
        self._is_picky = bool(request.prefill_out) or request.regions is not None or not fabric.pinned.is_empty
        self._holders = holders(request, cached, sides.by_place, HOLDERS_MAX)
        if self._is_picky:
            self._holders = [one for one in self._holders if self._may_send(one)]
        self._stored: dict[tuple[str, str], float] = {}  # tokens, by store and layout

    def try_alone(self, chance: Chance) -> None:
        """At decode replicas that need nothing brought: those that have most of the prompt, and the least busy."""
        request, now_s = self._request, self._now_s
        self._answering = [self._least_busy(pool, chance) for pool in self._decoding]
        alone = decode_alone(request, self._decoding, [*self._holders, *self._answering], self._cached, now_s)
        self._alone_all = tuple(alone)
        for forecast in alone:
            rank = self._objective.rank(request, forecast)
            if rank < self._rank:
                self._rank, self._alone = rank, forecast

    def look(self, pools: list[Pool], chance: Chance) -> None:
        """At the replica that is best without KV brought, the least busy of each pool, and those whose host has it."""
        sides, answering = self._sides, self._answering
        targets: list[ReplicaState] = []
        if sides.moves:
            held = self._fabric.on_hosts(self._request.chain)
            if self._holders or held.lengths or any(self._in_store(state) for state in sides.stored):
                targets = self._targets(answering, pools, chance)
                self._take_best(self._held_offers(targets, [*self._decoding, *pools], held))
        senders = self._senders(chance)
        if senders:
            # A prompt that is computed elsewhere goes to those that only answer, if there are any, or to the best.
            if answering:
                targets = [*answering, self._plain.state]
            self._take_best(self._prefill_offers(senders, targets or self._targets([], pools, chance)))

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

    def _targets(self, answering: list[ReplicaState], pools: list[Pool], chance: Chance) -> list[ReplicaState]:
        """The best with nothing brought, and the first to be free of the others."""
        plain = self._plain.state
        free = [*answering, *(self._least_busy(pool, chance) for pool in pools)]
        targets = [state for state in free if state is not plain]
        if len(targets) >= TARGETS_MAX:
            targets.sort(key=_free_at_s)
        return [plain, *targets[: TARGETS_MAX - 1]]

    def _least_busy(self, pool: Pool, chance: Chance) -> ReplicaState:
        return soonest(self._request, pool, NOTHING_CACHED, now_s=self._now_s, chance=chance)

    def _held_offers(self, targets: list[ReplicaState], answering: list[Pool], held: PrefixMatches) -> list[KvOffer]:
        """Of what is held somewhere: to the targets, and to those whose host has more of the prompt than they have."""
        for holder in holders(self._request, held, self._sides.by_place, SENDERS_MAX):
            has_more = held.tokens(holder.place) * holder.trust > self._own(holder)
            if has_more and holder not in targets and any(holder in states for states in answering):
                targets.append(holder)
        offers: list[KvOffer] = []
        for state in targets:
            offers += self._held_for(state, held)
        return offers

    def _held_for(self, state: ReplicaState, held: PrefixMatches) -> list[KvOffer]:
        """What its host, its store or another replica has of the prompt and it has not: the quickest of them."""
        fabric, replica = self._fabric, state.replica
        own = self._own(state)
        offers = []
        on_host = held.tokens(state.place) * state.trust
        if on_host > own:
            offer = KvOffer(KvOrigin.HOST, state, on_host)
            if self._weigh(offer, own, fabric.link_from_host(state), replica.id):
                offers.append(offer)
        in_store = self._in_store(state) if replica.kv_store else 0.0
        if in_store > own:
            offer = KvOffer(KvOrigin.STORE, state, in_store)
            offer.store = replica.kv_store
            if self._weigh(offer, own, fabric.link_from_store(state), store_end(replica.kv_store)):
                offers.append(offer)
        if replica.kv_layout and replica.kv_transfer in COPIES:
            for source in self._holders:
                if fit(source, state):
                    tokens = self._own(source)
                    if tokens <= own:
                        break
                    offer = KvOffer(KvOrigin.PEER, state, tokens)
                    offer.source = source
                    if self._weigh(offer, own, fabric.link_between(source, state), source.replica.id):
                        offers.append(offer)
                    break
        if len(offers) > 1 and not self._is_thorough:
            offers = [min(offers, key=_brought_s)]
        return offers

    def _prefill_offers(self, senders: list[tuple[Forecast, float]], targets: list[ReplicaState]) -> list[KvOffer]:
        """Another computes the prompt for a target, which computes its last token again to have something to say."""
        offers = []
        for sender, harm in senders:
            source = sender.state
            for state in targets:
                if state.replica.kv_transfer in HANDS_OVER and fit(source, state):
                    offer = KvOffer(KvOrigin.PREFILL, state, float(self._request.prompt_tokens))
                    offer.source, offer.prefill, offer.harm = source, sender, harm
                    link = self._fabric.link_between(source, state)
                    if self._weigh(offer, self._own(state), link, source.replica.id, begins_s=sender.ttft_s):
                        offers.append(offer)
        return offers

    def _senders(self, chance: Chance) -> list[tuple[Forecast, float]]:
        """Of the prompt alone, with the risk for others: on the prefill replicas where it would be done soonest, and on
        those that have most of it and can only pass it on as they compute."""
        sides, now_s, cached = self._sides, self._now_s, self._cached
        pools = sides.prefilling if sides.splits else []
        if self._is_picky:
            pools = [[state for state in pool if self._may_send(state)] for pool in pools]
            pools = [pool for pool in pools if pool]
        warm = [one for one in self._holders[:SENDERS_MAX] if only_hands_over(one)]
        if not pools and not warm:
            return []
        prompt = self._request.copied()  # as a prefill replica sees it
        prompt.output_tokens = 1.0
        prompt.itl_slo_s = inf
        prompt.streams = True
        states = [soonest(prompt, pool, cached, now_s=now_s, chance=chance) for pool in pools]
        states += [state for state in warm if state not in states]
        forecasts = [forecast_on(state, prompt, cached.tokens(state.place), now_s) for state in states]
        forecasts.sort(key=_ttft_s)
        return [
            (one, max(0.0, one.risk - own_risk(prompt, one)))
            for one in forecasts[:SENDERS_MAX]
            if not self._is_late(one.ttft_s)
        ]

    def _weigh(self, offer: KvOffer, own: float, link: KvLink, sender: str, *, begins_s: float = 0.0) -> bool:
        """What it takes; whether that may be better than what is known."""
        request, state, now_s = self._request, offer.state, self._now_s
        if offer.tokens > request.prompt_tokens - 1.0:
            offer.tokens = request.prompt_tokens - 1.0
        if offer.tokens <= own or now_s < link.paused_until_s:
            return False
        if self._decoding and request.prompt_tokens - offer.tokens > DECODE_TOKENS and state.replica.role is DECODE:
            return False
        if not offer.weigh(own, link, self._fabric, sender=sender, begins_s=begins_s, now_s=now_s):
            return False
        offer.least_s = least_ttft_s(state, request, offer.tokens, offer.brought_s, now_s)
        return not self._is_late(offer.least_s)

    def _is_late(self, seconds: float) -> bool:
        """Whether a first token after that cannot come first by any rank."""
        rank = self._rank
        return not self._is_thorough and rank[0] == KEPT and seconds > rank[1] and self._objective.name == "slo"

    def _take_best(self, offers: list[KvOffer]) -> None:
        """The soonest first: where that keeps the SLO, the others need no forecast."""
        if len(offers) > 1:
            offers.sort(key=_least_s)
        for offer in offers:
            if not self._is_late(offer.least_s):
                self._take(offer)

    def _take(self, offer: KvOffer) -> None:
        """The forecast, which is ranked with all others."""
        request, plain, state, prefill = self._request, self._plain, offer.state, offer.prefill
        forecast = forecast_after(state, request, offer.tokens, offer.brought_s, self._now_s)
        if state.usd_per_s < inf:
            forecast.usd += offer.again_s * state.usd_per_s
        if prefill is not None:
            forecast.usd += prefill.usd
            forecast.risk += offer.harm
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


def _least_s(offer: KvOffer) -> float:
    return offer.least_s


def _brought_s(offer: KvOffer) -> float:
    return offer.brought_s


def _ttft_s(forecast: Forecast) -> float:
    return forecast.ttft_s
