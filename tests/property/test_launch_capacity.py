"""Whatever is asked for, the sequences an engine is told of fit in the memory it has."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import InvalidSpec, PlanImpossible
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import kv_sequence_share_bytes
from heterodyne.physics.model_shapes import model_specs
from heterodyne.physics.precision import Precision
from heterodyne.planning.launch.launch_plan import Site
from heterodyne.planning.launch.registry import launch_plan
from heterodyne.planning.launch.requirements import LaunchRequirements
from heterodyne.planning.launch.sizing import size
from heterodyne.planning.workload_class import WorkloadClass

WISHES = st.builds(
    LaunchRequirements,
    model=st.sampled_from(list(model_specs().values())),
    accelerator=st.sampled_from(list(accelerators().values())),
    workload=st.sampled_from(WorkloadClass),
    precision=st.sampled_from(Precision),
    kv_precision=st.none() | st.sampled_from(Precision),
    engine=st.none() | st.sampled_from(EngineKind),
    tp=st.none() | st.sampled_from([1, 2, 4, 8]),
    context_tokens=st.none() | st.integers(1, 200_000),
    usual_tokens=st.none() | st.integers(1, 50_000),
    sequences=st.none() | st.integers(1, 300),
    weights=st.sampled_from([None, "some/where", "/models/x"]),
)


@given(requirements=WISHES)
def test_the_sequences_told_never_exceed_the_room(requirements: LaunchRequirements) -> None:
    try:
        sizing = size(requirements, accelerators())
    except (InvalidSpec, PlanImpossible):
        return
    usual = kv_sequence_share_bytes(sizing.layout, sizing.usual_tokens)
    longest = kv_sequence_share_bytes(sizing.layout, sizing.context_tokens)
    assert sizing.sequences * usual <= sizing.budget.kv_room_bytes
    assert longest <= sizing.budget.kv_room_bytes
    assert sizing.step_tokens >= sizing.sequences
    assert launch_plan(sizing, Site()).argv
