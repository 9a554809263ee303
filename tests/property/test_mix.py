"""What holds for the cheapest mix of any problem."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from heterodyne.domain.errors import PlanImpossible
from heterodyne.planning.mix import cheapest_mix
from heterodyne.planning.mix_problem import MixPlan, MixProblem, ReplicaKind, TrafficBucket
from heterodyne.planning.single_kind import can_serve

RATES = st.floats(0.05, 20.0)


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
        )
        for index in range(draw(st.integers(1, 4)))
    )
    return MixProblem(
        buckets=buckets,
        kinds=kinds,
        headroom=draw(st.sampled_from([0.0, 0.1, 0.3])),
        survives_one_loss=draw(st.booleans()),
    )


def solve(problem: MixProblem) -> MixPlan | None:
    try:
        return cheapest_mix(problem)
    except PlanImpossible:
        return None


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems())
def test_a_plan_keeps_every_promise(problem: MixProblem) -> None:
    plan = solve(problem)
    assume(plan is not None)
    assert plan is not None
    kinds = {kind.name: kind for kind in problem.kinds}
    for bucket in problem.buckets:
        shares = plan.shares[bucket.name]
        assert abs(sum(shares.values()) - 1.0) < 1e-5
        assert all(can_serve(kinds[name], bucket) for name in shares)
    for name, count in plan.replicas.items():
        available = kinds[name].available
        assert available is None or count <= available
        assert plan.utilisation[name] <= 1.0 - problem.headroom + 1e-6


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems())
def test_no_kind_alone_is_cheaper_than_the_mix(problem: MixProblem) -> None:
    plan = solve(problem)
    assume(plan is not None and plan.single_kind_usd_per_hour)
    assert plan is not None
    assert plan.usd_per_hour <= min(plan.single_kind_usd_per_hour.values()) + 1e-6


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems(), st.floats(0.1, 1.0))
def test_less_traffic_never_costs_more(problem: MixProblem, part: float) -> None:
    plan = solve(problem)
    assume(plan is not None)
    less = tuple(structs.replace(bucket, requests_per_s=bucket.requests_per_s * part) for bucket in problem.buckets)
    smaller = solve(structs.replace(problem, buckets=less))
    assert plan is not None
    assert smaller is not None
    assert smaller.usd_per_hour <= plan.usd_per_hour + 1e-6
