"""A rival for an attempt that is late: when it is sent, that there is one, and that the first to speak wins."""

from pathlib import Path
from typing import Any

from heterodyne.books.flight_slots import FlightSlot, FlightSlots
from heterodyne.domain.errors import EngineBroke
from heterodyne.domain.fleet import ModelRule
from heterodyne.gateway.race import NEVER, Race
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.settings import RoutingSettings
from heterodyne.telemetry import metrics
from tests.support.attempt_owners import RecordingOwner
from tests.support.request_paths import CALL, RequestPath, replicas

HEDGES = RoutingSettings(hedge_share=1.0)
SETTINGS = GatewaySettings()
BROKE = EngineBroke("broke")


def on(race: Race) -> list[str]:
    return [attempt.wire.replica.id for attempt in race.attempts]


def test_an_attempt_that_is_late_gets_one_rival_and_no_second() -> None:
    path, owner = RequestPath(*replicas("a", "b", "c", pool="hedged"), routing=HEDGES), RecordingOwner()
    path.learn_ttft("b")
    race = path.racing(owner)
    race.check(owner, race.hedge_at_s, SETTINGS)
    assert on(race) == ["a"], "it is not late yet"
    path.clock.now_s = race.hedge_at_s + 0.001
    for _ in range(2):
        race.check(owner, path.clock(), SETTINGS)
        path.network.turn()
        assert (len(race.attempts), race.is_hedged, race.hedge_at_s) == (2, True, NEVER)
    assert on(race)[1] != "a"
    assert metrics.hedges.cell(("m", "hedged"))[0] == 1


def test_there_is_no_second_rival_for_one_that_is_left_alone() -> None:
    path, owner = RequestPath(*replicas("a", "b", "c"), routing=HEDGES), RecordingOwner()
    path.racing(owner)  # another request, which earns another hedge
    race = path.racing(owner)
    race.hedge(owner)
    path.network.turn()
    race.fail(race.attempts[0], BROKE)
    race.hedge(owner)
    assert (len(race.attempts), path.health.snapshot(path.clock()).models[0].hedges) == (1, 1)


def test_there_is_no_rival_for_none() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=HEDGES), RecordingOwner()
    race = path.racing(owner)
    race.fail(race.attempts[0], BROKE)
    race.hedge(owner)
    assert race.attempts == []


def test_nothing_is_hedged_while_it_is_not_known_what_is_usual() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=HEDGES), RecordingOwner()
    assert path.racing(owner).hedge_at_s == NEVER


def test_nothing_is_hedged_that_goes_on_from_words_already_sent() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=HEDGES), RecordingOwner()
    path.learn_ttft("b")
    race = path.race()
    race.ask(owner, path.choice("a"), CALL, has_begun=True)
    path.network.turn()
    assert (race.attempts[0].expected_s > 0.0, race.hedge_at_s) == (True, NEVER)


def test_no_rival_is_sent_without_a_budget_for_hedges() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=RoutingSettings(hedge_share=0.0)), RecordingOwner()
    race = path.racing(owner)
    race.hedge(owner)
    assert (on(race), race.is_hedged) == (["a"], False)


def test_no_rival_is_sent_once_the_answer_has_begun() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=HEDGES), RecordingOwner()
    race = path.racing(owner)
    race.win(race.attempts[0], path.clock())
    race.hedge(owner)
    assert (on(race), race.is_hedged) == (["a"], False)


def test_another_model_is_no_rival() -> None:
    others, rules = replicas("b", model="n"), {"m": ModelRule(fallbacks=("n",))}
    path, owner = RequestPath(*replicas("a"), *others, rules=rules, routing=HEDGES), RecordingOwner()
    path.health.of(others[0].id).on_start(path.clock(), 1000)  # a request there, which earns a hedge
    race = path.racing(owner)
    race.hedge(owner)
    assert (on(race), race.is_hedged) == (["a"], False)


def test_a_replica_whose_engine_has_no_words_for_the_request_is_no_rival() -> None:
    path, owner = RequestPath(*replicas("a"), *replicas("b", engine="tgi"), routing=HEDGES), RecordingOwner()
    race = path.racing(owner, choices=2)
    race.hedge(owner)
    assert (on(race), race.is_hedged) == (["a"], False)


def test_only_a_replica_that_has_the_adapter_is_a_rival() -> None:
    path, owner = RequestPath(*replicas("a", "b", adapters={"lora": "s3://lora"}), routing=HEDGES), RecordingOwner()
    race = path.racing(owner, model="lora")
    race.hedge(owner)
    assert on(race) == ["a"], "loading it takes longer"
    path.adapters.held.add((path.choice("b").target.id, "lora"))
    race.hedge(owner)
    assert on(race) == ["a", "b"]


def test_what_wins_is_late_no_more_and_shows_how_fast_its_replica_is() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=HEDGES), RecordingOwner()
    path.learn_ttft("b")
    race = path.racing(owner)
    path.clock.pass_s(0.25)
    race.win(race.attempts[0], path.clock())
    assert (race.hedge_at_s, race.attempts[0].first_at_s) == (NEVER, path.clock())
    limit = path.health.of(race.attempts[0].wire.replica.id).snapshot(path.clock()).in_flight_limit
    assert limit == HEDGES.concurrency_initial, "its speed begins to be known"


def test_the_books_have_the_replica_that_wins(tmp_path: Path) -> None:
    slots, placed = FlightSlots(tmp_path / "slots", 1), []

    def place(*asked: Any, started_at_s: float, slot: FlightSlot | None) -> FlightSlot:
        placed.append(asked[-1].state.replica.id)
        return slot or slots.open_encoded(b"opening")

    path, owner = RequestPath(*replicas("a", "b"), routing=HEDGES, place=place), RecordingOwner()
    race = path.race()
    race.place(path.choice("a"))
    race.ask(owner, path.choice("a"), CALL, earns=True)
    race.hedge(owner)
    path.network.turn()
    for _ in range(2):
        race.win(race.attempts[0], path.clock())
        assert placed == ["a", "b", "a"]
    slots.close()


def test_the_first_to_speak_wins_and_its_rival_is_cancelled() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=HEDGES), RecordingOwner()
    race = path.racing(owner)
    race.hedge(owner)
    path.network.turn()
    late, rival = race.attempts
    race.win(rival, path.clock())
    assert (race.winner, race.attempts, race.wire) == (rival, [rival], rival.wire)
    assert (late.is_over, path.engine("a").was_aborted, path.engine("b").was_aborted) == (True, True, False)
    assert [(one.replica.id, one.outcome) for one in race.tries] == [("a", Outcome.CANCELLED)]
    assert path.upstream.limit.by_replica == {"b": 1}


def test_pause_and_resume_reach_every_attempt_and_those_to_come() -> None:
    path, owner = RequestPath(*replicas("a", "b"), routing=HEDGES), RecordingOwner()
    race = path.racing(owner)
    race.pause()
    race.hedge(owner)
    path.network.turn()
    assert [path.engine(name).is_reading() for name in "ab"] == [False, False]
    race.resume()
    assert [path.engine(name).is_reading() for name in "ab"] == [True, True]
