"""What is known of the adapters of one replica."""

from msgspec import structs

from heterodyne.control.adapter_slots import FAILURE_PAUSE_S, AdapterSlots
from heterodyne.domain.adapter import Nearness
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.errors import AdapterUnavailable
from heterodyne.domain.fleet import Replica
from tests.support.watches import replica

SOURCES: dict[str, str | None] = {"law": "/law", "code": "/code", "tales": "/tales"}


def one(**changes: object) -> Replica:
    return replica(1, engine="vllm", **{"adapters": SOURCES, "adapters_max": 2, **changes})


def slots(**changes: object) -> AdapterSlots:
    return AdapterSlots(one(**changes), 0.0, can_load=True)


def test_the_nearest_is_the_one_that_holds_it() -> None:
    found = slots()
    assert found.nearness("law", 1.0) is Nearness.ROOM
    found.waiting["law"] = []
    assert found.nearness("law", 1.0) is Nearness.COMING
    del found.waiting["law"]
    found.came("law", 1.0)
    assert found.nearness("law", 1.0) is Nearness.HELD
    found.came("code", 2.0)
    assert found.nearness("tales", 2.0) is Nearness.FULL
    found.claim("law", 3.0)
    found.claim("code", 3.0)
    assert found.nearness("tales", 3.0) is Nearness.CROWDED


def test_an_engine_that_loads_nothing_has_what_it_was_started_with() -> None:
    assert AdapterSlots(one(), 0.0, can_load=False).nearness("law", 1.0) is Nearness.HELD


def test_a_failure_bars_it_for_a_while() -> None:
    found = slots()
    found.failed("law", 1.0, AdapterUnavailable("no such file"))
    assert found.nearness("law", 1.0) is Nearness.BARRED
    assert found.nearness("law", 1.0 + FAILURE_PAUSE_S) is Nearness.ROOM


def test_the_idlest_was_used_longest_ago_and_is_not_seen_at_work() -> None:
    found = slots()
    found.came("law", 1.0)
    found.came("code", 2.0)
    assert found.idlest() == "law"
    found.claim("law", 3.0)
    found.release("law", 4.0)
    assert found.idlest() == "code"
    found.know(one(load=EngineLoad(adapters=("code",))), 5.0)
    assert found.idlest() == "law", "another worker's request runs on the other"
    found.claim("law", 6.0)
    assert found.idlest() == "code", "one seen at work a moment ago still gives way when no other can"
    found.claim("code", 6.0)
    assert found.idlest() is None


def test_a_list_counts_for_what_has_not_changed_since() -> None:
    found = slots()
    found.came("law", 10.0)
    found.know(one(adapters_listed=("code",), adapters_listed_at_s=9.0), 11.0)
    assert sorted(found.held) == ["code", "law"], "it was loaded after the list was made"
    found.went("code", 12.0)
    found.know(one(adapters_listed=("law", "code"), adapters_listed_at_s=11.0), 13.0)
    assert found.held == ("law",), "it was unloaded after the list was made"
    found.know(one(adapters_listed=(), adapters_listed_at_s=14.0), 14.0)
    assert found.held == ()


def test_what_an_engine_came_with_is_never_counted() -> None:
    found = slots(adapters={**SOURCES, "own": None})
    found.know(one(adapters={**SOURCES, "own": None}, adapters_listed=("own",), adapters_listed_at_s=1.0), 1.0)
    assert found.held == ()
    assert found.nearness("own", 1.0) is Nearness.HELD


def test_an_engine_that_began_anew_holds_nothing_that_older_lists_say() -> None:
    found = slots()
    found.came("law", 1.0)
    found.forget(2.0)
    found.know(one(adapters_listed=("law",), adapters_listed_at_s=1.5), 2.0)
    assert found.held == ()


def test_another_source_makes_what_is_held_stale() -> None:
    found = slots()
    found.came("law", 1.0)
    found.know(structs.replace(one(), adapters={**SOURCES, "law": "/law-2"}), 2.0)
    assert found.is_stale("law")
    found.came("law", 3.0)
    assert not found.is_stale("law")
