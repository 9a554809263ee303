"""Memory moves the way it must, whatever the model, the chip and the engine."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Demand, Layout, memory_budget
from heterodyne.physics.model_shapes import model_specs
from heterodyne.physics.precision import BYTES, Precision
from heterodyne.physics.weights import weight_bytes
from heterodyne.planning.hardware.fit import fit

LAYOUTS = st.builds(
    Layout,
    model=st.sampled_from(list(model_specs().values())),
    accelerator=st.sampled_from(list(accelerators().values())),
    precision=st.sampled_from(Precision),
    kv_precision=st.sampled_from(Precision),
    engine=st.sampled_from(EngineKind),
)
DEMANDS = st.builds(Demand, context_tokens=st.integers(1, 200_000), concurrency=st.integers(1, 2000))


@given(LAYOUTS, DEMANDS, st.integers(1, 50_000))
def test_memory_grows_with_context(layout: Layout, demand: Demand, more: int) -> None:
    longer = msgspec.structs.replace(demand, context_tokens=demand.context_tokens + more)
    before, after = memory_budget(layout, demand), memory_budget(layout, longer)
    assert after.kv_bytes >= before.kv_bytes
    assert after.concurrency_max <= before.concurrency_max


@given(LAYOUTS, DEMANDS)
def test_weights_fall_and_cache_never_grows_with_tp(layout: Layout, demand: Demand) -> None:
    if layout.model.heads % 2:
        return
    one, two = (memory_budget(msgspec.structs.replace(layout, tp=tp), demand) for tp in (1, 2))
    assert two.weights_bytes * 2 == one.weights_bytes
    assert two.kv_bytes <= one.kv_bytes


@given(LAYOUTS, DEMANDS)
def test_the_limits_are_where_it_stops_fitting(layout: Layout, demand: Demand) -> None:
    budget = memory_budget(layout, demand)
    assert budget.is_fitting == (budget.concurrency_max >= demand.concurrency)
    if demand.context_tokens <= layout.model.context_tokens:
        assert budget.is_fitting == (budget.context_max_tokens >= demand.context_tokens)


@given(st.sampled_from(list(model_specs().values())), st.sampled_from(Precision), st.sampled_from(Precision))
def test_fewer_bytes_a_number_never_weigh_more(model, one: Precision, other: Precision) -> None:
    is_partly = model.experts is not None and Precision.FP4 in (one, other)  # quantises the experts only
    if BYTES[one] <= BYTES[other] and not is_partly:
        assert weight_bytes(model, one) <= weight_bytes(model, other)


@given(LAYOUTS, DEMANDS)
def test_every_change_offered_fits(layout: Layout, demand: Demand) -> None:
    answer = fit(layout, demand, accelerators())
    assert all(change.budget.is_fitting for change in answer.changes)
    assert not (answer.is_fitting and answer.changes)
    kinds = [change.kind for change in answer.changes]
    assert len(kinds) == len(set(kinds))
