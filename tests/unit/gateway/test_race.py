"""The attempts of one request: which replica is asked next, when one is given up, and that each ends once."""

from pathlib import Path
from typing import Any

import pytest

from heterodyne.books.flight_slots import FlightSlot, FlightSlots
from heterodyne.domain.errors import EngineBroke, EngineStalled, EngineUnavailable
from heterodyne.domain.request import Usage
from heterodyne.gateway.race import ATTEMPTS_MAX, CONNECTS_MAX, Race
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.settings import RoutingSettings
from heterodyne.telemetry import metrics
from heterodyne.telemetry.tracing.context import Trace, hop
from tests.support.attempt_owners import RecordingOwner
from tests.support.memory_network import MemoryClient
from tests.support.request_paths import CALL, NOW_S, STREAM_HEAD, RequestPath, replicas, token, whole

NO_BUDGET = RoutingSettings(retry_share=0.0, retry_reserve_tokens_per_s=0)
HEDGES = RoutingSettings(hedge_share=1.0)
SETTINGS = GatewaySettings(first_byte_timeout_s=30.0, stall_timeout_s=5.0)
BROKE, DOWN = EngineBroke("broke"), EngineUnavailable("down")


def on(race: Race) -> list[str]:
    return [attempt.wire.replica.id for attempt in race.attempts]


def test_a_retry_goes_to_a_replica_that_has_not_failed_and_is_counted() -> None:
    path, owner = RequestPath(*replicas("a", "b", "c", pool="retried")), RecordingOwner()
    race = path.racing(owner)
    asked = []
    for _ in range(2):
        assert race.fail(race.attempts[0], BROKE) is Outcome.BROKE
        assert race.try_retry(owner, is_free=False)
        path.network.turn()
        asked += on(race)
        assert race.wire is race.attempts[0].wire
    assert sorted(asked) == ["b", "c"]
    assert (race.retries, [one.outcome for one in race.tries]) == (2, [Outcome.BROKE] * 2)
    assert metrics.retries.cell(("m", "retried"))[0] == metrics.attempts_failed.cell(("m", "retried", "broke"))[0] == 2
    path.network.turn()


def test_where_every_replica_has_failed_none_is_asked_again() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    race = path.racing(owner)
    race.fail(race.attempts[0], BROKE)
    assert not race.try_retry(owner, is_free=True)


@pytest.mark.parametrize(("is_free", "attempts"), [(False, ATTEMPTS_MAX), (True, CONNECTS_MAX)])
def test_attempts_are_bounded_and_connections_that_are_refused_less_so(is_free: bool, attempts: int) -> None:
    path, owner = RequestPath(*replicas(*"abcdefghijkl")), RecordingOwner()
    race = path.racing(owner)
    for _ in range(attempts - 1):
        race.fail(race.attempts[0], DOWN)
        assert race.try_retry(owner, is_free=is_free)
        path.network.turn()
    race.fail(race.attempts[0], DOWN)
    assert not race.try_retry(owner, is_free=is_free)
    assert len(race.tries) == attempts


def test_a_retry_is_paid_from_the_budget_and_a_refused_connection_is_not() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=NO_BUDGET), RecordingOwner()
    race = path.racing(owner)
    race.fail(race.attempts[0], DOWN)
    assert not race.try_retry(owner, is_free=False)
    assert race.try_retry(owner, is_free=True)
    path.network.turn()
    assert on(race) == ["b"]


def test_only_a_first_attempt_earns_for_the_retries_of_others() -> None:
    path, owner = (
        RequestPath(*replicas("a", "b"), routing=RoutingSettings(retry_reserve_tokens_per_s=0)),
        RecordingOwner(),
    )

    def budget() -> float:
        return path.health.snapshot(path.clock()).models[0].retry_tokens_available

    race = path.racing(owner)
    assert budget() == pytest.approx(200.0), "a fifth of the prompt's thousand tokens"
    race.fail(race.attempts[0], DOWN)
    race.try_retry(owner, is_free=True)
    path.network.turn()
    assert budget() == pytest.approx(200.0)


def test_there_is_no_retry_after_the_deadline() -> None:
    path, owner = RequestPath(*replicas("a", "b")), RecordingOwner()
    race = path.racing(owner, deadline_s=NOW_S + 1.0)
    race.fail(race.attempts[0], DOWN)
    path.clock.pass_s(1.5)
    assert not race.try_retry(owner, is_free=True)


def test_a_replica_whose_engine_has_no_words_for_the_request_is_not_asked() -> None:
    path, owner = RequestPath(*replicas("a"), *replicas("b", engine="tgi")), RecordingOwner()
    race = path.racing(owner, choices=2)
    race.fail(race.attempts[0], DOWN)
    assert not race.try_retry(owner, is_free=True)
    assert race.retries == 0


def test_a_replica_that_does_not_begin_in_time_is_given_up() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    race = path.racing(owner)
    race.check(owner, NOW_S + 30.0, SETTINGS)
    assert owner.events == []
    race.check(owner, NOW_S + 30.1, SETTINGS)
    assert owner.events == ["failed"]
    assert isinstance(owner.error, EngineStalled)


def test_a_replica_that_falls_silent_in_its_answer_is_given_up_unless_the_client_is_slow() -> None:
    path = RequestPath(*replicas("a"))
    owner = RecordingOwner(MemoryClient(path.clock))
    race = path.racing(owner)
    path.engine().feed(STREAM_HEAD, token())
    race.win(race.attempts[0], path.clock())
    race.pause()
    race.check(owner, NOW_S + 6.0, SETTINGS)
    path.clock.pass_s(6.0)
    race.resume()
    race.check(owner, NOW_S + 11.0, SETTINGS)
    assert "failed" not in owner.events, "it has had five seconds since it may speak again"
    race.check(owner, NOW_S + 11.1, SETTINGS)
    assert isinstance(owner.error, EngineStalled)


@pytest.mark.parametrize("reported", [None, Usage(prompt_tokens=1, completion_tokens=5)])
def test_the_attempt_that_gave_the_whole_answer_ends_as_a_success(reported: Usage | None) -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    race = path.racing(owner)
    race.succeed(race.attempts[0], reported, events=5)
    assert (race.attempts, path.outcomes(), path.upstream.limit.by_replica) == ([], [Outcome.SUCCESS], {})


def test_cancelling_ends_every_attempt_once() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=HEDGES), RecordingOwner()
    race = path.racing(owner)
    race.hedge(owner)
    path.network.turn()
    for _ in range(2):
        race.cancel()
    assert (race.attempts, len(race.tries), path.upstream.limit.by_replica) == ([], 2, {})
    assert path.outcomes("a") == path.outcomes("b") == [Outcome.CANCELLED]


@pytest.mark.parametrize(("status", "outcome"), [(503, Outcome.REFUSED_BUSY), (500, Outcome.ENGINE_FAILED)])
def test_an_engines_status_says_what_its_attempt_ended_as(status: int, outcome: Outcome) -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    race = path.racing(owner)
    path.engine().feed(whole(b"{}", status))
    assert race.fail(race.attempts[0], BROKE) is outcome


def test_a_replica_that_has_only_lost_the_adapter_may_be_asked_again_once() -> None:
    path, owner = RequestPath(*replicas("a", adapters={"lora": "s3://lora"})), RecordingOwner()
    race = path.racing(owner, model="lora")
    for is_asked_again in (True, False):
        path.adapters.held.add((path.choice().target.id, "lora"))
        path.adapters.waiting.pop()(None)
        path.network.turn()
        path.engine().feed(whole(b"{}", 404))
        race.fail(race.attempts[0], DOWN)
        assert race.try_retry(owner, is_free=True) is is_asked_again


def test_the_books_have_the_replica_that_was_asked_last(tmp_path: Path) -> None:
    slots, placed = FlightSlots(tmp_path / "slots", 1), []

    def place(*asked: Any, started_at_s: float, slot: FlightSlot | None) -> FlightSlot:
        placed.append(asked[-1].state.replica.id)
        return slot or slots.open_encoded(b"opening")

    path, owner = RequestPath(*replicas("a", "b"), place=place), RecordingOwner()
    race = path.race()
    race.place(path.choice("a"))
    race.ask(owner, path.choice("a"), CALL)
    race.fail(race.attempts[0], DOWN)
    race.try_retry(owner, is_free=True)
    path.network.turn()
    assert placed == ["a", "b"]
    slots.close()


def test_every_attempt_has_a_place_of_its_own_in_the_trace() -> None:
    spans = iter((7, 8))
    path = RequestPath(*replicas("a", "b"), hop=lambda trace: hop(trace, lambda _: next(spans)))
    race, owner = path.race(trace=Trace(5, 6, 0, True)), RecordingOwner()
    race.ask(owner, path.choice("a"), CALL)
    race.fail(race.attempts[0], DOWN)
    race.try_retry(owner, is_free=True)
    path.network.turn()
    assert b"traceparent: 00-00000000000000000000000000000005-0000000000000008-01\r\n" in path.engine("b").written
    assert [one.span_id for one in race.tries] == [7]
