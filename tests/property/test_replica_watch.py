"""Whatever is seen of a replica, what is published of it holds together."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.control.prober import ProbeResult
from heterodyne.control.problems import ProblemKind
from heterodyne.control.replica_watch import FAILURES_MAX, ReplicaWatch
from heterodyne.domain.engine_load import EngineLoad, ServedModel
from heterodyne.domain.fleet import Health, PoolName, Replica, ReplicaId

REPLICA = Replica(id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="vllm", host="h", port=1)

counters = st.one_of(st.none(), st.floats(0, 1e12))
loads = st.builds(
    EngineLoad,
    running=st.one_of(st.none(), st.integers(0, 500)),
    prompt_tokens=counters,
    output_tokens=counters,
    started_at_s=counters,
    context_tokens=st.one_of(st.none(), st.integers(1, 1 << 20)),
)
model_lists = st.lists(st.builds(ServedModel, name=st.sampled_from(["m", "n", "o"])), max_size=3).map(tuple)


@st.composite
def looks(draw: st.DrawFn) -> list[ProbeResult]:
    found, now_s = [], 0.0
    for _ in range(draw(st.integers(1, 30))):
        now_s += draw(st.floats(0.1, 90))
        if not draw(st.booleans()):
            found.append(ProbeResult(at_s=now_s, took_s=0.0, is_ready=False, error="no"))
            continue
        load = draw(st.one_of(st.none(), loads))
        found.append(
            ProbeResult(
                at_s=now_s,
                took_s=0.0,
                is_ready=True,
                models=draw(st.one_of(st.none(), model_lists)),
                load=load,
                load_at_s=None if load is None else now_s,
            )
        )
    return found


@given(looks(), st.one_of(st.none(), st.integers(1, 1 << 20)))
def test_a_ready_replica_was_seen_ready_lately_with_the_right_model(
    seen: list[ProbeResult], context_tokens: int | None
) -> None:
    configured = Replica(
        **{name: getattr(REPLICA, name) for name in REPLICA.__struct_fields__ if name != "context_tokens"},
        context_tokens=context_tokens,
    )
    watch = ReplicaWatch(configured, "pools.p.urls[0]", 0.0)
    said: tuple[ServedModel, ...] | None = None
    restarts = 0
    for number, probe in enumerate(seen):
        before = watch.seen
        restarts += watch.take(probe, answers=number)
        said = probe.models if probe.models is not None else said
        lately = seen[max(0, number + 1 - FAILURES_MAX) : number + 1]
        if watch.seen.health is Health.READY:
            assert any(one.is_ready for one in lately)
            assert said is None or any(model.name == "m" for model in said)
        if before.health is not Health.STARTING:
            assert watch.seen.health is not Health.STARTING, "it starts once"
        assert (watch.seen.load_at_s or 0.0) >= (before.load_at_s or 0.0)
        assert context_tokens is None or watch.seen.context_tokens == context_tokens
        assert (ProblemKind.NOT_READY in {one.kind for one in watch.problems}) <= (not probe.is_ready)
        assert watch.restarts == restarts
        watch.snapshot(probe.at_s)
