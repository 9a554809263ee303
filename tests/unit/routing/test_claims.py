"""Workers that see the same leave each other's part of a pool alone by as much as they cannot know, and no more."""

import pytest

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.claims import CLAIM_MAX
from heterodyne.routing.router import Router
from heterodyne.routing.worker_reports import WorkerReports
from tests.support.replica_states import ROUND, even, fleet, replica, routing_request

REPLICAS = [replica(name, port=number) for number, name in enumerate("abcdefgh")]
NAMES = ("w1", "w2", "w3", "w4")
ASKED = routing_request(4000)


class Gateways:
    """Workers of one fleet, each of which has its turn every 0.1 s."""

    def __init__(self, *names: str) -> None:
        snapshot = fleet(*REPLICAS)
        self.routers = {
            name: Router(snapshot, prior_of=lambda _: ROUND, chance=even, now_s=0.0, has_others=True) for name in names
        }
        self.reports = {name: WorkerReports(router, None, name=name) for name, router in self.routers.items()}
        self.now_s = 0.0

    def burst(self, each: int, *names: str) -> list[str]:
        """So many requests come at one moment to each of them; where they go. They end before the next turn."""
        tickets, chosen = [], []
        for _ in range(each):
            for name in names or tuple(self.routers):
                router = self.routers[name]
                choice = router.decide(ASKED, REPLICAS, self.now_s)
                chosen.append(choice.target.id)
                tickets.append(router.start(ASKED, choice.forecast, self.now_s))
        for ticket in tickets:
            ticket.first_token(self.now_s + 0.04)
        self.turn()
        for ticket in tickets:
            ticket.end(self.now_s, output_tokens=1)
        self.now_s += 5.0
        self.turn()
        return chosen

    def turn(self) -> None:
        self.now_s += 0.1
        told = {name: reports.compose(self.now_s) for name, reports in self.reports.items()}
        for name, reports in self.reports.items():
            for other, (version, body) in told.items():
                if other != name:
                    reports.hear(other, version, self.now_s, body)
            reports.apply(self.now_s)

    def claimed(self, name: str) -> dict[str, float]:
        states = {one.id: self.routers[name].state(ReplicaId(one.id)) for one in REPLICAS}
        return {id: state.claimed_s for id, state in states.items() if state is not None}


def test_each_has_an_equal_part_of_a_pool_for_its_own() -> None:
    workers = Gateways(*NAMES)
    for _ in range(3):
        workers.burst(4)
    own = [{id for id, claimed_s in workers.claimed(name).items() if claimed_s == 0.0} for name in NAMES]
    assert [len(one) for one in own] == [2, 2, 2, 2]
    assert set.union(*own) == set("abcdefgh")


def test_what_comes_at_one_moment_goes_to_as_many_replicas_as_there_are() -> None:
    workers = Gateways(*NAMES)
    for _ in range(3):
        workers.burst(2)
    assert sorted(workers.burst(2)) == list("abcdefgh")


def test_a_replica_that_is_better_by_more_than_the_claim_is_taken() -> None:
    workers = Gateways(*NAMES)
    for _ in range(3):
        workers.burst(4)
    chosen = workers.burst(4, "w1")
    assert len(set(chosen)) > 2, "nobody waits behind two prompts of his own while others have nothing to do"
    speed = 4000 * ROUND.prompt_token_s + ROUND.prompt_s
    assert max(workers.claimed("w1").values()) <= CLAIM_MAX * speed * 1.5


def test_requests_that_come_one_by_one_are_known_in_time_and_claim_nothing() -> None:
    workers = Gateways(*NAMES)
    for _ in range(5):
        for name in NAMES:
            workers.burst(1, name)
    assert {value for name in NAMES for value in workers.claimed(name).values()} == {0.0}


def test_one_that_sends_nothing_claims_nothing() -> None:
    workers = Gateways(*NAMES)
    for _ in range(3):
        workers.burst(4, "w1")
    assert set(workers.claimed("w1").values()) == {0.0}


@pytest.mark.parametrize("away_s", [2.1, 60.0])
def test_whoever_hears_of_nobody_any_more_has_all_to_himself(away_s: float) -> None:
    workers = Gateways(*NAMES)
    for _ in range(3):
        workers.burst(4)
    assert max(workers.claimed("w1").values()) > 0.0
    workers.reports["w1"].apply(workers.now_s + away_s)
    assert set(workers.claimed("w1").values()) == {0.0}


def test_one_worker_decides_as_if_there_were_no_such_thing() -> None:
    alone, told = Gateways("w1"), Gateways("w1")
    told.reports["w1"].apply = lambda _: None  # type: ignore[method-assign]
    assert [alone.burst(4) for _ in range(4)] == [told.burst(4) for _ in range(4)]
    assert set(alone.claimed("w1").values()) == {0.0}
