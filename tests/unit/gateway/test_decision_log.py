"""The latest decisions: so many and no more, and nothing of a prompt."""

import sys

import pytest
from msgspec.structs import replace

from heterodyne.domain.record import RequestRecord
from heterodyne.gateway.decision_log import USUAL_PER_S, Decided, DecisionLog, is_unusual
from heterodyne.routing.kv.chain import chain_of_blocks
from tests.support.replica_states import replica, router, routing_request
from tests.support.requests_copied import ended

REPLICAS = [replica("a", "a"), replica("b", "b")]
ROUTER = router(*REPLICAS)
CHOICE = ROUTER.decide(routing_request(), REPLICAS, 0.0)


def record(number: int) -> RequestRecord:
    return RequestRecord(id=f"r{number}", at=float(number), operation="chat", model="m", status=200)


def filled(kept_max: int, count: int) -> DecisionLog:
    log = DecisionLog(kept_max)
    for number in range(count):
        log.add(Decided(f"r{number}", routing_request(), CHOICE, ended(record(number))))
    return log


def test_the_oldest_goes_when_there_is_no_room() -> None:
    log = filled(3, 10)
    assert len(log) == 3
    assert [one.id for one in log.latest(10)] == ["r9", "r8", "r7"]
    assert [one.id for one in log.latest(2)] == ["r9", "r8"]
    assert log.try_find("r6") is None
    found = log.try_find("r8")
    assert found is not None
    assert found.record == record(8)


def test_none_are_kept_where_none_are_wanted() -> None:
    log = filled(0, 10)
    assert (len(log), log.kept_max, list(log.latest(5))) == (0, 0, [])


def test_another_bound_holds_from_then_on_and_the_latest_stay() -> None:
    log = filled(10, 10)
    log.keep(2)
    assert [one.id for one in log.latest(10)] == ["r9", "r8"]
    log.add(Decided("new", routing_request(), CHOICE, ended(record(11))))
    assert [one.id for one in log.latest(10)] == ["new", "r9"]
    log.keep(5)
    assert (len(log), log.kept_max) == (2, 5)


def test_what_was_asked_is_kept_without_its_prompt() -> None:
    asked = routing_request(chain=chain_of_blocks(b"s", range(1000), 16), session="secret", tenant=b"t", ttft_slo_s=0.5)
    kept = Decided("r", asked, CHOICE, None)
    assert kept.routing_request.chain.hashes == ()
    assert (kept.routing_request.session, kept.routing_request.tenant) == ("", b"")
    assert (kept.routing_request.ttft_slo_s, kept.routing_request.prompt_tokens) == (0.5, 1000)
    assert sys.getsizeof(kept) < 200


def test_of_one_second_only_so_many_usual_ones_have_room() -> None:
    log = DecisionLog(10_000)
    assert sum(log.has_room(5.0 + number / 1000) for number in range(999)) == USUAL_PER_S
    assert log.has_room(6.0)
    assert log.has_room(3.0), "a clock that went back begins a second too"


@pytest.mark.parametrize(
    "facts",
    [{"reason": "engine_broke"}, {"retries": 1}, {"continuations": 1}, {"is_hedged": True}, {"promise": "broken"}],
)
def test_decisions_that_somebody_may_ask_about_are_unusual(facts: dict[str, object]) -> None:
    assert is_unusual(ended(replace(record(1), **facts)))
    assert not is_unusual(ended(record(1)))
