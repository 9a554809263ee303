"""What pools must say of KV events, one check at a time."""

import sys

import pytest

from heterodyne.config.checks import kv_checks
from heterodyne.config.checks.catalogue import CHECKS, Check
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings

ALL = "tcp://{host}:5557"
REPLAY = "tcp://{host}:5600"


def pool(*urls: str, engine: str = "vllm", **fields: object) -> PoolSettings:
    return PoolSettings(model="m", engine=engine, urls=urls or ("http://gpu1:8000", "http://gpu2:8000"), **fields)  # type: ignore[arg-type]


def found(check: Check, *pools: PoolSettings) -> list[str]:
    settings = Settings(pools={f"p{number}": one for number, one in enumerate(pools)})
    return [str(problem) for problem in check(settings, {})]


def test_a_pool_that_says_all_of_it_right_has_no_problem() -> None:
    said = pool(kv_events=(ALL,), kv_events_replay=(REPLAY,), kv_events_ranks=8)
    each = pool("http://g:1", "http://g:2", engine="sglang", kv_events=("tcp://g:7001", "tcp://[::1]:7002"))
    assert [problem for check in CHECKS for problem in found(check, said, each)] == []


@pytest.mark.parametrize("engine", ["llamacpp", "openai", "tensorrt-llm", "tgi"])
def test_an_engine_that_publishes_nothing_is_refused(engine: str) -> None:
    (problem,) = found(
        kv_checks.kv_events_come_from_an_engine_that_publishes_them, pool(engine=engine, kv_events=(ALL,))
    )
    assert problem.startswith(f'pools.p0.kv_events: "{engine}" publishes none')


def test_a_replay_without_events_is_refused() -> None:
    (problem,) = found(kv_checks.kv_events_come_from_an_engine_that_publishes_them, pool(kv_events_replay=(REPLAY,)))
    assert "set pools.p0.kv_events, too" in problem


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "5557",
        "tcp://*:5557",
        "tcp://h",
        "tcp://h:port",
        "ipc:///tmp/x",
        "http://h:1",
        "tcp://h:1/x",
        "tcp://{hots}:1",
    ],
)
def test_an_endpoint_that_nobody_could_connect_to_is_refused(endpoint: str) -> None:
    (problem,) = found(kv_checks.kv_endpoints_can_be_reached, pool(kv_events=(endpoint,)))
    assert problem.startswith("pools.p0.kv_events[0]: expected tcp://{host}:PORT")


@pytest.mark.parametrize(("endpoint", "ranks"), [("tcp://h:0", 1), ("tcp://h:65536", 1), ("tcp://h:65530", 8)])
def test_ports_exist_up_to_the_last_rank(endpoint: str, ranks: int) -> None:
    (problem,) = found(kv_checks.kv_endpoints_can_be_reached, pool(kv_events=(endpoint,), kv_events_ranks=ranks))
    assert "a port is 1 to 65535" in problem


def test_there_is_one_endpoint_for_all_or_one_for_each() -> None:
    three = pool("http://a:1", "http://b:1", "http://c:1", kv_events=("tcp://a:1", "tcp://b:1"))
    assert found(kv_checks.kv_endpoints_can_be_reached, three) == [
        "pools.p0.kv_events: 2 endpoints for 3 urls; give one for all, or one for each"
    ]


@pytest.mark.parametrize(
    "pools",
    [
        (pool("http://g:1", "http://g:2", kv_events=(ALL,)),),  # two replicas on one host
        (pool("http://g:1", "http://h:2", kv_events=("tcp://g:5557",)),),
        (pool("http://g:1", kv_events=(ALL,)), pool("http://g:2", kv_events=(ALL,))),
        (pool("http://g:1", kv_events=(ALL,), kv_events_replay=("tcp://{host}:5558",), kv_events_ranks=2),),
    ],
)
def test_no_two_publishers_are_at_one_endpoint(pools: tuple[PoolSettings, ...]) -> None:
    (problem, *_) = found(kv_checks.no_two_publishers_are_at_one_endpoint, *pools)
    assert "would be at tcp://g:555" in problem
    assert ".kv_events of replica" in problem


def test_what_other_checks_refuse_is_left_to_them() -> None:
    broken = pool("http://[", kv_events=(ALL,)), pool(kv_events=("nowhere",))
    assert found(kv_checks.no_two_publishers_are_at_one_endpoint, *broken) == []


def test_without_zeromq_only_a_pool_that_wants_events_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zmq", None)
    (problem,) = found(kv_checks.kv_events_can_be_read, pool(), pool(kv_events=(ALL,)))
    assert problem == ("pools.p1.kv_events: needs ZeroMQ, which is not installed; pip install 'heterodyne[kv-events]'")
