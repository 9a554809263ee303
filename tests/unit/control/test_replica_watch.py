"""What is made of looks at one replica; the looks are written down here."""

import pytest

from heterodyne.control.prober import ProbeResult
from heterodyne.control.problems import ProblemKind
from heterodyne.control.replica_watch import GRACE_S, MODELS_INTERVAL_S, ReplicaWatch
from heterodyne.domain.engine_load import EngineLoad, ServedModel
from heterodyne.domain.fleet import Health, PoolName, Replica, ReplicaId, WarmUp

REPLICA = Replica(
    id=ReplicaId("h100-1"), pool=PoolName("h100"), model="llama-3.1-70b", engine="vllm", host="gpu1", port=8000
)
MODELS = (ServedModel(name="llama-3.1-70b", context_tokens=131072),)


def watch(**changes: object) -> ReplicaWatch:
    fields = {name: getattr(REPLICA, name) for name in REPLICA.__struct_fields__}
    return ReplicaWatch(Replica(**{**fields, **changes}), "pools.h100.urls[1]", now_s=0.0)


def up(at_s: float, **seen: object) -> ProbeResult:
    return ProbeResult(at_s=at_s, took_s=0.002, is_ready=True, **seen)  # type: ignore[arg-type]


def down(at_s: float, error: str = "no") -> ProbeResult:
    return ProbeResult(at_s=at_s, took_s=0.002, is_ready=False, error=error)


def texts(replica: ReplicaWatch) -> list[str]:
    return [problem.text for problem in replica.problems]


def test_a_replica_is_starting_until_it_is_first_ready() -> None:
    replica = watch()
    replica.take(down(1.0), 0)
    replica.take(down(2.0), 0)
    assert replica.seen.health is Health.STARTING
    assert not replica.problems
    replica.take(up(3.0, models=MODELS), 0)
    assert replica.seen.health is Health.READY


def test_one_lost_look_is_no_verdict_but_two_are() -> None:
    replica = watch()
    for probe in (up(1.0), down(2.0)):
        replica.take(probe, 0)
    assert replica.seen.health is Health.READY
    replica.take(up(3.0), 0)
    replica.take(down(4.0), 0)
    assert replica.seen.health is Health.READY, "the failure before was forgiven"
    replica.take(down(5.0, "No answer to /health within 2 s."), 0)
    assert replica.seen.health is Health.DOWN
    assert texts(replica) == ["pools.h100.urls[1]: http://gpu1:8000 is not ready: No answer to /health within 2 s."]
    replica.take(up(6.0), 0)
    assert replica.seen.health is Health.READY
    assert not replica.problems


def test_a_replica_that_never_starts_becomes_a_problem() -> None:
    replica = watch()
    replica.take(down(GRACE_S - 1), 0)
    assert not replica.problems
    replica.take(down(GRACE_S + 1, "Name or service not known"), 0)
    assert replica.seen.health is Health.STARTING
    assert "http://gpu1:8000 is not ready: Name or service not known" in texts(replica)[0]


def test_a_replica_with_another_model_gets_no_work_and_the_problem_names_both() -> None:
    replica = watch()
    replica.take(up(1.0, models=(ServedModel(name="qwen3-32b"),)), 0)
    assert replica.seen.health is Health.DOWN
    assert texts(replica)[0].startswith('pools.h100.urls[1]: serves "qwen3-32b", not "llama-3.1-70b"')
    assert replica.wants_models(1.1), "whoever runs it may be putting it right"
    replica.take(up(2.0, models=MODELS), 0)
    assert replica.seen.health is Health.READY
    assert not replica.problems


def test_the_engines_own_name_of_the_model_is_what_counts() -> None:
    replica = watch(engine_model="meta-llama/Llama-3.1-70B")
    replica.take(up(1.0, models=(ServedModel(name="meta-llama/Llama-3.1-70B"),)), 0)
    assert replica.seen.health is Health.READY


def test_a_long_model_list_is_not_quoted_whole() -> None:
    replica = watch()
    replica.take(up(1.0, models=tuple(ServedModel(name=f"m{number}") for number in range(40))), 0)
    assert '"m4", 35 more, not' in texts(replica)[0]


def test_a_replica_whose_models_cannot_be_read_keeps_serving() -> None:
    replica = watch()
    replica.take(up(1.0, models_error="It answers 401 to /v1/models."), 0)
    assert replica.seen.health is Health.READY
    assert [problem.kind for problem in replica.problems] == [ProblemKind.MODELS_UNREAD]
    assert not replica.wants_models(2.0)
    assert replica.wants_models(1.0 + MODELS_INTERVAL_S)


@pytest.mark.parametrize(("configured", "published"), [(None, 131072), (8192, 8192)])
def test_the_context_is_the_engines_unless_the_settings_say_one(configured: int | None, published: int) -> None:
    replica = watch(context_tokens=configured)
    replica.take(up(1.0, models=MODELS), 0)
    assert replica.seen.context_tokens == published
    assert not replica.problems


def test_a_context_that_the_engine_does_not_take_is_a_problem() -> None:
    replica = watch(context_tokens=32768)
    replica.take(up(1.0, load=EngineLoad(context_tokens=4096), load_at_s=1.0), 0)
    assert replica.seen.context_tokens == 32768
    assert texts(replica) == ["pools.h100.urls[1]: the pool's `context_tokens` is 32768, but the engine takes 4096"]


def test_a_load_that_cannot_be_read_leaves_the_last_one_with_its_age() -> None:
    replica = watch()
    replica.take(up(1.0, load=EngineLoad(running=3), load_at_s=1.0), 0)
    replica.take(up(3.0, load_error="The metrics page is HTML, not Prometheus."), 0)
    seen = replica.snapshot(now_s=5.0)
    assert seen.health is Health.READY
    assert seen.load == EngineLoad(running=3)
    assert seen.load_age_s == 4.0
    assert "only our own requests count: The metrics page is HTML" in seen.problems[0].text
    replica.take(up(6.0, load=EngineLoad(running=1), load_at_s=6.0), 0)
    assert not replica.problems


def test_a_restart_is_counted_and_its_models_are_read_again() -> None:
    replica = watch()
    assert not replica.take(up(1.0, models=MODELS, load=EngineLoad(output_tokens=50.0), load_at_s=1.0), 0)
    assert not replica.wants_models(2.0)
    assert replica.take(up(3.0, load=EngineLoad(output_tokens=0.0), load_at_s=3.0), 0)
    assert replica.restarts == 1
    assert replica.wants_models(3.1)
    assert not replica.take(up(5.0, load=EngineLoad(output_tokens=4.0), load_at_s=5.0), 0)


def test_one_that_was_started_anew_warms_up_again() -> None:
    replica = watch(warm_up=WarmUp(prompts=("Hello.",), timeout_s=1.0))
    assert not replica.is_warm
    replica.is_warm = True
    replica.take(up(1.0, models=MODELS, load=EngineLoad(output_tokens=50.0), load_at_s=1.0), 0)
    assert replica.seen.health is Health.READY
    replica.take(up(3.0, load=EngineLoad(output_tokens=0.0), load_at_s=3.0), 0)
    assert (replica.seen.health, replica.is_warm) == (Health.STARTING, False)


def test_a_page_that_stands_still_while_answers_come_is_a_problem_until_it_moves() -> None:
    replica = watch()
    for second in range(13):
        replica.take(up(float(second), load=EngineLoad(output_tokens=7.0), load_at_s=float(second)), second)
    assert texts(replica) == ["pools.h100.urls[1]: load pages have not changed for 12 s while it answered requests"]
    replica.take(up(14.0, load=EngineLoad(output_tokens=8.0), load_at_s=14.0), 14)
    assert not replica.problems


def test_new_words_of_the_operator_keep_what_is_known() -> None:
    replica = watch()
    replica.take(up(1.0, models=MODELS, load=EngineLoad(running=2), load_at_s=1.0), 0)
    drained = watch(is_draining=True).configured
    replica.configure(drained)
    assert replica.seen.is_draining
    assert not replica.seen.is_takeable
    assert replica.seen.health is Health.READY
    assert replica.seen.load == EngineLoad(running=2)
