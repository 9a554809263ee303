"""What `fleet` says before and after it has asked."""

import pytest

from heterodyne.cli.fleet.replica_table import HEADER, footnotes, price_in_words, table_rows
from heterodyne.console.fleet.pages import (
    FleetPage,
    GatewayVersion,
    ReloadRow,
    ReplicaCondition,
    ReplicaRow,
    SettingsStanding,
    WorkerOpinion,
    WorkerRow,
)
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health
from heterodyne.domain.price import Price
from heterodyne.routing.health.breaker import BreakerState
from heterodyne.routing.health.snapshot import Obstacle


def row(**more: object) -> ReplicaRow:
    fields = {
        "id": "chat-0",
        "pool": "chat",
        "model": "m",
        "engine": "vllm",
        "url": "http://h:1",
        "state": ReplicaCondition.READY,
        "health": Health.READY,
        "is_drained": False,
        "is_local": False,
        "is_added": False,
        "in_flight": 3,
        "problems": (),
        "load": EngineLoad(running=5, waiting=1, kv_share=0.42),
        "load_age_s": 1.0,
        "restarts": 0,
        "hardware": "h100",
        "tp": 2,
        "region": None,
        "version": None,
        "labels": {},
        "price": Price(usd_per_hour=7.5),
        "workers": (),
    }
    return ReplicaRow(**{**fields, **more})  # type: ignore[arg-type]


def page(*rows: ReplicaRow, **more: object) -> FleetPage:
    fields = {"version": 4, "is_applied": True, "workers": (), "replicas": rows, "reload": None}
    return FleetPage(**{**fields, **more})  # type: ignore[arg-type]


def test_a_replica_is_one_line() -> None:
    [line] = table_rows(page(row()))
    assert dict(zip(HEADER, line, strict=True)) == {
        "POOL": "chat",
        "REPLICA": "chat-0",
        "HARDWARE": "2 x h100",
        "STATE": "ready",
        "IN FLIGHT": "3",
        "RUNNING": "5",
        "WAITING": "1",
        "KV": "42%",
        "PRICE": "$7.50/h",
        "PROBLEM": "-",
    }


def test_what_nobody_knows_is_a_dash() -> None:
    [line] = table_rows(page(row(load=None, hardware=None, price=Price())))
    assert [line[HEADER.index(name)] for name in ("HARDWARE", "RUNNING", "WAITING", "KV", "PRICE")] == ["-"] * 5


def test_without_a_problem_the_obstacle_is_told() -> None:
    opinion = WorkerOpinion(
        worker="worker-0",
        health=Health.READY,
        obstacle=Obstacle.BREAKER_OPEN,
        breaker=BreakerState.OPEN,
        ejected_for_s=None,
        in_flight=0,
        in_flight_limit=64,
    )
    assert table_rows(page(row(workers=(opinion,))))[0][-1] == "breaker open"
    assert table_rows(page(row(workers=(opinion,), problems=("a", "b"))))[0][-1] == "a (and 1 more)"


def test_hosted_capacity_is_priced_by_the_token() -> None:
    assert price_in_words(Price(usd_per_million_prompt_tokens=0.5)) == "$0.5+?/M"


def test_footnotes_tell_what_the_table_cannot() -> None:
    late = WorkerRow(name="worker-1", pid=1, version=3, seen_ago_s=1.0, in_flight=0, restarts=0)
    notes = "\n".join(
        footnotes(
            page(
                row(is_added=True),
                is_applied=False,
                workers=(late,),
                reload=ReloadRow(at=0.0, is_good=False, problems=("gateway.prot: no such setting",)),
            )
        )
    )
    assert "the next reload drops it" in notes
    assert "worker-1 (3)" in notes
    assert "gateway.prot" in notes


def test_gateways_by_other_settings_are_named_and_what_became_of_the_last_reload_of_all() -> None:
    standing = SettingsStanding(
        version="v2",
        others=(GatewayVersion(gateway="b:8080", version="v2"), GatewayVersion(gateway="c:8080", version="v1")),
        differs_at=("routing",),
        under_way="of b:8080; preparing, done by b:8080",
        problem="c:8080: no such pool",
    )
    notes = footnotes(page(row(), settings=standing))
    assert notes[:2] == ["gateways by other settings than here (v2):", "  c:8080 (v1)"]
    for word, note in zip(("routing", "b:8080", "no such pool"), notes[2:], strict=True):
        assert word in note


@pytest.mark.parametrize("words", [("drain",), ("drain", "chat-0", "--pool", "chat"), ("add", "chat"), ("restart",)])
def test_who_is_meant_must_be_said_once(run, words: tuple[str, ...]) -> None:
    result = run("fleet", *words)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_nobody_there_is_said_with_what_to_try(run) -> None:
    result = run("fleet", "status", "--url", "http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "heterodyne serve" in result.stderr
    assert run("fleet", "status", "--url", "ftp://x").exit_code == 1
