"""The KV's origin, whatever happens: never worse than computing, never another tenant's, never more than is bounded."""

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from heterodyne.domain.fleet import FleetSnapshot, ModelRule, Replica
from heterodyne.domain.price import Price
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.catalogue import OBJECTIVES
from heterodyne.routing.kv.chain import Chain, chain_of_blocks, salt_of
from heterodyne.routing.kv.held import KvTier
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.ticket import Ticket
from tests.support.replica_states import ROUND, replica
from tests.support.splits import bounded

PRIOR = structs.replace(ROUND, kv_token_bytes=1e5, kv_link_bytes_per_s=20e9)
BLOCK_TOKENS = 500
STORES = {"s": KvStoreSettings(medium="memory", capacity_gb=5.0, ttl_s=30.0)}
RULE = {"mix": {"slo": 1.0, "cost": 1.0}, "prefers_hardware": ("h100",)}
replicas_drawn = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "prompts", "answers"]),
        st.sampled_from(["", "nixl", "dynamo"]),
        st.sampled_from(["L", "M"]),
        st.booleans(),
        st.booleans(),
    ),
    min_size=2,
    max_size=7,
)
# Tenant, conversation, blocks of its prompt, and how what was decided goes on.
happenings = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 2),
        st.integers(1, 40),
        st.sampled_from(["served", "arrived", "failed", "cancelled", "open"]),
    ),
    min_size=1,
    max_size=25,
)


def listed(drawn: Sequence[tuple[str, str, str, bool, bool]]) -> list[Replica]:
    roles = {"prompts": ReplicaRole.PREFILL, "answers": ReplicaRole.DECODE}
    made = [
        replica(
            f"r{number}",
            pool,
            role=roles.get(pool, ReplicaRole.BOTH),
            kv_transfer=transfer,
            kv_layout=layout if transfer else "",
            kv_store="s" if has_store and transfer else "",
            kv_host_bytes=10**10 if has_host else 0,
            price=Price(usd_per_hour=1.0 + number),
        )
        for number, (pool, transfer, layout, has_store, has_host) in enumerate(drawn)
    ]
    return [*made, replica("last", "p", kv_transfer="dynamo", kv_layout="L")]  # one that answers is always there


def asked(tenant: int, conversation: int, blocks: int, slo_s: float = 5.0) -> RoutingRequest:
    return RoutingRequest(
        model="m",
        prompt_tokens=BLOCK_TOKENS * blocks + 7,
        output_tokens=100.0,
        chain=words(tenant, conversation, blocks),
        ttft_slo_s=slo_s,
    )


def words(tenant: int, conversation: int, blocks: int) -> Chain:
    """The same words from whoever asks."""
    hashes = [hash((conversation, number)) for number in range(blocks)]
    return chain_of_blocks(salt_of(b"tenant %d" % tenant), hashes, BLOCK_TOKENS)


class Played:
    """A router through some happenings."""

    def __init__(self, replicas: Sequence[Replica], kv: KvStrategy, policy: str, seed: int) -> None:
        rule = RoutingRule(kv=kv, policy=policy, **RULE)  # type: ignore[arg-type]
        self.fleet = FleetSnapshot.of(1, tuple(replicas), _rules(rule))
        self.router = Router(
            self.fleet, prior_of=lambda _: PRIOR, chance=Random(seed).random, now_s=0.0, kv_stores=STORES
        )
        self.choices: list[tuple[RoutingRequest, RoutingChoice]] = []
        self.tickets: list[Ticket] = []

    def go(self, happened: Sequence[tuple[int, int, int, str]]) -> "Played":
        for number, (tenant, conversation, blocks, how) in enumerate(happened):
            now_s = 0.5 * number
            request = asked(tenant, conversation, blocks)
            choice = self.router.decide(request, self.fleet.by_model["m"], now_s)
            self.choices.append((request, choice))
            ticket = self.router.start(request, choice.forecast, now_s, choice.kv_plan)
            if how == "arrived":
                ticket.kv_prefilled(now_s + 0.05)
                ticket.kv_arrived(now_s + 0.1, 1e6 * blocks)
            elif how == "failed":
                ticket.kv_failed(now_s + 0.1)
            if how in ("served", "arrived", "failed"):
                ticket.first_token(now_s + 0.2)
            if how == "open":
                self.tickets.append(ticket)
            else:
                cached = request.prompt_tokens - 1 if number % 2 else 0
                ticket.end(now_s + 0.3, output_tokens=9, cached_tokens=cached, is_complete=how != "cancelled")
        return self


def _rules(rule: RoutingRule) -> dict[str, ModelRule]:

    return {"m": ModelRule(routing=rule)}


moving = st.sampled_from([KvStrategy.STORE, KvStrategy.SPLIT, KvStrategy.AUTO])


@bounded
@given(replicas_drawn, happenings, moving, st.sampled_from(OBJECTIVES), st.integers(0, 9))
def test_a_choice_with_kv_brought_is_never_worse_than_the_best_without(
    drawn: list[tuple[str, str, str, bool, bool]],
    happened: list[tuple[int, int, int, str]],
    kv: KvStrategy,
    policy: str,
    seed: int,
) -> None:
    one = Played(listed(drawn), kv, policy, seed).go(happened)
    for request, choice in one.choices:
        rank = one.router.objective(request).rank
        if choice.kv_plan is not None:
            assert rank(request, choice.forecast) < rank(request, choice.plain)
            assert choice.kv_plan.forecast is choice.forecast
        assert choice.target.role is not ReplicaRole.PREFILL


@bounded
@given(replicas_drawn, happenings, moving, st.sampled_from(OBJECTIVES))
def test_what_is_left_out_could_not_have_come_first(
    drawn: list[tuple[str, str, str, bool, bool]],
    happened: list[tuple[int, int, int, str]],
    kv: KvStrategy,
    policy: str,
) -> None:
    """A dry run looks at everything, and ranks nothing before what is decided."""
    one = Played(listed(drawn), kv, policy, 0).go(happened)
    usable, now_s = one.fleet.by_model["m"], 0.5 * len(happened)
    one.router._chance = lambda: 0.5
    for tenant, conversation in {(tenant, conversation) for tenant, conversation, *_ in happened}:
        request = asked(tenant, conversation, 40)
        rank = one.router.objective(request).rank
        thorough = one.router.try_dry_run(request, usable, now_s)
        assert thorough is not None
        decided = one.router.decide(request, usable, now_s)
        assert rank(request, decided.forecast) <= rank(request, thorough.forecast)


@bounded
@given(replicas_drawn, happenings, moving, st.integers(0, 9))
def test_kv_comes_only_from_where_the_same_tenants_prompt_was_computed(
    drawn: list[tuple[str, str, str, bool, bool]],
    happened: list[tuple[int, int, int, str]],
    kv: KvStrategy,
    seed: int,
) -> None:
    """Tenants say the same words, so that any mistake of salts would be a hit."""
    one = Played(listed(drawn), kv, "slo", seed).go(happened)
    computed: set[tuple[int, str, str]] = set()  # tenant, and whom its prompts were given to, with their layout
    for (tenant, *_), (_, choice) in zip(happened, one.choices, strict=True):
        plan = choice.kv_plan
        for option in choice.kv_options:
            places = {place for known, place, _ in computed if known == tenant}
            layouts = {layout for known, _, layout in computed if known == tenant}
            target = option.forecast.state.replica
            if option.prefill is None:
                assert option.source is None or option.source.replica.id in places
                assert option.store == "" or target.kv_layout in layouts
                assert option.source is not None or option.store or target.id in places
            if option.source is not None:
                assert option.source.replica.kv_layout == target.kv_layout != ""
        computed.add((tenant, choice.target.id, choice.target.kv_layout))
        if plan is not None and plan.source is not None:
            computed.add((tenant, plan.source.replica.id, plan.source.replica.kv_layout))


@bounded
@given(replicas_drawn, happenings, st.integers(0, 9))
def test_the_same_happenings_lead_to_the_same_choices_and_leave_nothing(
    drawn: list[tuple[str, str, str, bool, bool]], happened: list[tuple[int, int, int, str]], seed: int
) -> None:
    def names(one: Played) -> list[tuple[str, str, str]]:
        return [
            (
                choice.target.id,
                "" if choice.kv_plan is None else choice.kv_plan.origin.value,
                "" if choice.kv_plan is None or choice.kv_plan.source is None else choice.kv_plan.source.replica.id,
            )
            for _, choice in one.choices
        ]

    one = Played(listed(drawn), KvStrategy.AUTO, "slo", seed).go(happened)
    assert names(one) == names(Played(listed(drawn), KvStrategy.AUTO, "slo", seed).go(happened))
    for ticket in one.tickets:
        ticket.end(1000.0, output_tokens=0, is_complete=False)
    assert one.router.fabric.is_still
    states, interactive = one.router.snapshot()
    assert interactive == 0
    assert all(state.in_flight == 0 and abs(state.waiting_work_s) < 1e-6 for state in states)


@bounded
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(1, 30), st.integers(0, 30)), max_size=40),
    st.sampled_from([0.0, 0.5]),
)
def test_a_store_is_never_too_full_and_holds_no_more_than_was_put_there(
    puts: list[tuple[int, int, int, int]], usd_per_gb_hour: float
) -> None:
    tier = KvTier(3e7, ttl_s=20.0, usd_per_gb_hour=usd_per_gb_hour, blocks_max=50)
    put: set[tuple[int, int]] = set()
    now_s = 0.0
    for tenant, conversation, blocks, waited_s in puts:
        now_s += waited_s
        chain = words(tenant, conversation, blocks)
        tier.insert("L", chain, token_bytes=1000.0, token_usd=1e-6, session=str(conversation), now_s=now_s)
        put.add((tenant, conversation))
        assert tier.entries <= 50
        assert tier.byte_count <= 3e7
        assert tier.pinned_bytes <= tier.byte_count + 1.0
    for tenant in range(4):
        for conversation in range(21):
            held = tier.tokens("L", words(tenant, conversation, 30), now_s)
            assert held == 0 or (tenant, conversation) in put
            assert tier.tokens("M", words(tenant, conversation, 30), now_s) == 0
