"""What the autoscaler sees, from what workers and drivers say."""

from msgspec import structs

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.gateway.demand_tally import DemandSeen
from heterodyne.supervisor.scaling.observer import MemberSeen, ModelObserver
from tests.support.driven_fleets import CHAT, MODEL, seen_of, view
from tests.support.driver_bench import replica_of

ONE = replica_of(CHAT, ReplicaId("chat-1"))


def member(id: str = "chat-1", *, asked_at_s: float = 0.0, is_there: bool = True) -> MemberSeen:
    return MemberSeen(id=ReplicaId(id), asked_at_s=asked_at_s, is_there=is_there, is_leaving=False)


def test_what_has_come_is_what_ended_and_what_is_more_in_flight_than_before() -> None:
    observer = ModelObserver(MODEL)
    observer.observe(0.0, [view(ONE, demand=DemandSeen(ended=100), in_flight={"chat-1": 2})], {CHAT: [member()]})
    later = view(ONE, demand=DemandSeen(ended=104, refused=1, queued=3, late=2), in_flight={"chat-1": 5})
    seen = observer.observe(5.0, [later], {CHAT: [member()]})
    assert (seen.arrivals, seen.ended, seen.late) == (4 + 1 + 3 + 3, 5, 3)
    assert (seen.in_flight, seen.waiting, seen.held, seen.span_s) == (5, 3, 0, 5.0)


def test_what_was_there_at_the_first_look_has_not_come_since() -> None:
    seen = ModelObserver(MODEL).observe(9.0, [view(ONE, demand=DemandSeen(ended=100))], {CHAT: [member()]})
    assert (seen.arrivals, seen.ended) == (0, 0)


def test_a_worker_that_began_again_brings_all_it_has_seen() -> None:
    observer = ModelObserver(MODEL)
    observer.observe(0.0, [view(ONE, demand=DemandSeen(ended=100))], {CHAT: [member()]})
    seen = observer.observe(5.0, [view(ONE, demand=DemandSeen(ended=3), pid=2)], {CHAT: [member()]})
    assert (seen.arrivals, seen.ended) == (3, 3)


def test_prompts_are_as_long_as_they_were_lately() -> None:
    observer = ModelObserver(MODEL)
    observer.observe(0.0, [view(ONE, demand=DemandSeen())], {CHAT: [member()]})
    ended = DemandSeen(ended=10, prompt_tokens=2000, output_tokens=500)
    seen = observer.observe(5.0, [view(ONE, demand=ended, in_flight={"chat-1": 5})], {CHAT: [member()]})
    assert seen.prompt_tokens == 15 * 200
    assert seen.output_tokens == 500


def test_a_replica_is_ready_when_every_worker_sees_it_so() -> None:
    observer = ModelObserver(MODEL)
    waking = view(ONE)
    waking = structs.replace(
        waking, fleet=structs.replace(waking.fleet, replicas=(seen_of(ONE, health=Health.STARTING),))
    )
    seen = observer.observe(0.0, [view(ONE), waking], {CHAT: [member(asked_at_s=-20.0)]})
    assert seen.pool(CHAT).replicas[0].stage is ReplicaStage.WARMING
    seen = observer.observe(5.0, [view(ONE), view(ONE)], {CHAT: [member(asked_at_s=-20.0)]})
    assert seen.pool(CHAT).replicas[0].stage is ReplicaStage.READY
    assert seen.pool(CHAT).cold_starts_s == (25.0,)
    assert observer.observe(9.0, [view(ONE)], {CHAT: [member(asked_at_s=-20.0)]}).pool(CHAT).cold_starts_s == ()


def test_another_life_of_the_same_replica_is_another_start() -> None:
    observer = ModelObserver(MODEL)
    observer.observe(0.0, [view(ONE)], {CHAT: [member(asked_at_s=-20.0)]})
    observer.observe(5.0, [view(ONE)], {CHAT: [member(asked_at_s=4.0, is_there=False)]})
    assert observer.observe(9.0, [view(ONE)], {CHAT: [member(asked_at_s=4.0)]}).pool(CHAT).cold_starts_s == (5.0,)


def test_engines_queues_and_memory_are_read_where_they_are_told() -> None:
    loaded = view(ONE)
    load = EngineLoad(waiting=7, kv_share=0.5)
    loaded = structs.replace(loaded, fleet=structs.replace(loaded.fleet, replicas=(seen_of(ONE, load=load),)))
    seen = ModelObserver(MODEL).observe(0.0, [loaded], {CHAT: [member()]})
    assert seen.waiting == 7
    assert seen.pool(CHAT).kv_share == 0.5


def test_who_was_refused_while_there_was_no_replica_wakes_the_pool_too() -> None:
    observer = ModelObserver(MODEL)
    observer.observe(0.0, [view(demand=DemandSeen())], {CHAT: []})
    assert observer.observe(5.0, [view(demand=DemandSeen(refused=2, queued=1, held=1))], {CHAT: []}).held == 3
    assert observer.observe(9.0, [view(ONE, demand=DemandSeen(refused=4))], {CHAT: [member()]}).held == 0
