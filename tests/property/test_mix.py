"""What holds for the cheapest mix of any problem."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from heterodyne.domain.errors import PlanImpossible
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.problem import MixPlan, MixProblem, ReplicaKind, Stock, TrafficBucket
from heterodyne.planning.mix.single_kind import can_serve
from tests.support.examples import examples

RATES = st.floats(0.05, 20.0)
STOCK = "stock"
TOLERANCE = 1e-5


@st.composite
def problems(draw: st.DrawFn) -> MixProblem:
    names = [f"b{index}" for index in range(draw(st.integers(1, 4)))]
    buckets = tuple(
        TrafficBucket(name=name, requests_per_s=draw(RATES), is_critical=draw(st.booleans())) for name in names
    )
    kinds = tuple(
        ReplicaKind(
            name=f"k{index}",
            usd_per_hour=draw(st.floats(0.1, 50.0)),
            requests_per_s={name: draw(st.one_of(st.just(0.0), RATES)) for name in names},
            available=draw(st.one_of(st.none(), st.integers(0, 60))),
            is_spot=draw(st.booleans()),
            role=draw(st.sampled_from(ReplicaRole)),
            handoff=draw(st.sampled_from(["", "a"])),
            stock=draw(st.sampled_from([None, STOCK])),
            chips=draw(st.integers(1, 4)),
        )
        for index in range(draw(st.integers(0, 5)))
    )
    # One that may and can do everything, so that most problems have an answer.
    sure = ReplicaKind(
        name="sure", usd_per_hour=draw(st.floats(0.1, 50.0)), requests_per_s={name: draw(RATES) for name in names}
    )
    minimum = draw(st.sampled_from([0, 0, 2])) if any(kind.stock for kind in kinds) else 0
    return MixProblem(
        buckets=buckets,
        kinds=(*kinds, sure),
        stocks=(Stock(name=STOCK, available=draw(st.one_of(st.none(), st.integers(4, 200))), minimum=minimum),),
        headroom=draw(st.sampled_from([0.0, 0.1, 0.3])),
        spot_share_max=draw(st.sampled_from([0.0, 0.5, 1.0])),
        survives_one_loss=draw(st.booleans()),
    )


def solve(problem: MixProblem) -> MixPlan | None:
    try:
        return cheapest_mix(problem)
    except PlanImpossible:
        return None


@settings(max_examples=examples(120), deadline=None, derandomize=True)
@given(problems())
def test_a_plan_keeps_every_promise(problem: MixProblem) -> None:
    plan = solve(problem)
    assume(plan is not None)
    assert plan is not None
    kinds = {kind.name: kind for kind in problem.kinds}
    for bucket in problem.buckets:
        shares = plan.shares[bucket.name]
        assert all(can_serve(kinds[name], bucket) for name in shares)
        for phase in (ReplicaRole.PREFILL, ReplicaRole.DECODE):
            doing = {name: share for name, share in shares.items() if kinds[name].role in (ReplicaRole.BOTH, phase)}
            assert abs(sum(doing.values()) - 1.0) < TOLERANCE
            spot = sum(share for name, share in doing.items() if kinds[name].is_spot)
            assert spot <= problem.spot_share_max + TOLERANCE
        for word in ("", "a"):
            handed = [(kinds[name].role, share) for name, share in shares.items() if kinds[name].handoff == word]
            given_away = sum(share for role, share in handed if role is ReplicaRole.PREFILL)
            assert abs(given_away - sum(share for role, share in handed if role is ReplicaRole.DECODE)) < TOLERANCE
    for name, count in plan.replicas.items():
        available = kinds[name].available
        assert available is None or count <= available
    (stock,) = problem.stocks
    chips = sum(kinds[name].chips * count for name, count in plan.replicas.items() if kinds[name].stock == STOCK)
    assert stock.minimum <= chips
    assert stock.available is None or chips <= stock.available


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(problems())
def test_no_kind_does_more_than_its_replicas_can(problem: MixProblem) -> None:
    plan = solve(problem)
    assume(plan is not None)
    assert plan is not None
    for kind in problem.kinds:
        busy = sum(
            bucket.requests_per_s * plan.shares[bucket.name].get(kind.name, 0.0) / kind.requests_per_s[bucket.name]
            for bucket in problem.buckets
            if can_serve(kind, bucket)
        )
        assert busy <= plan.replicas.get(kind.name, 0) * (1.0 - problem.headroom) + TOLERANCE


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(problems())
def test_after_any_loss_the_rest_still_carries_the_critical_load(problem: MixProblem) -> None:
    plan = solve(structs.replace(problem, survives_one_loss=True))
    critical = tuple(bucket for bucket in problem.buckets if bucket.is_critical)
    assume(plan is not None and critical)
    assert plan is not None
    for lost in plan.replicas:
        left = tuple(
            structs.replace(kind, available=plan.replicas.get(kind.name, 0) - (kind.name == lost))
            for kind in problem.kinds
        )
        assert solve(MixProblem(buckets=critical, kinds=left, stocks=(Stock(name=STOCK),), headroom=0.0)) is not None


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(problems())
def test_no_kind_alone_is_cheaper_than_the_mix(problem: MixProblem) -> None:
    plan = solve(problem)
    assume(plan is not None and plan.single_kind_usd_per_hour)
    assert plan is not None
    assert plan.usd_per_hour <= min(plan.single_kind_usd_per_hour.values()) + 1e-6


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(problems(), st.floats(0.1, 1.0))
def test_less_traffic_never_costs_more(problem: MixProblem, part: float) -> None:
    plan = solve(problem)
    assume(plan is not None)
    less = tuple(structs.replace(bucket, requests_per_s=bucket.requests_per_s * part) for bucket in problem.buckets)
    smaller = solve(structs.replace(problem, buckets=less))
    assert plan is not None
    assert smaller is not None
    assert smaller.usd_per_hour <= plan.usd_per_hour + 1e-6


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(problems())
def test_roles_never_make_a_mix_dearer(problem: MixProblem) -> None:
    together = tuple(kind for kind in problem.kinds if kind.role is ReplicaRole.BOTH)
    plain = solve(structs.replace(problem, kinds=together))
    assume(plain is not None)
    apart = solve(problem)
    assert plain is not None
    assert apart is not None
    assert apart.usd_per_hour <= plain.usd_per_hour + 1e-6
