"""The routers of several gateways over one fleet: a balancer draws one for each request, and they report to each other.

What they tell each other, and what they make of it, is the very code that gateways run; only the store is a list here.
"""

from collections.abc import Callable, Sequence
from math import inf
from random import Random

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.routing.router import Router
from heterodyne.routing.worker_reports import WorkerReports
from heterodyne.simulator.sharing import Sharing
from heterodyne.simulator.trial import Trial


class _Left(Struct, frozen=True):
    """A report or gossip in the store."""

    at_s: float
    sender: int
    version: int
    body: bytes


def try_gateways(trial: Trial, first: Router, another: Callable[[], Router]) -> "SimulatedGateways | None":
    """None where there is one, which decides alone."""
    if trial.gateways == 1:
        return None
    if trial.admission is not None:
        raise InvalidSpec("gateways: with admission there is one, whose queue all requests wait in")
    routers = [first, *(another() for _ in range(trial.gateways - 1))]
    return SimulatedGateways(routers, trial.sharing, Random(f"{trial.seed} balancer").random)  # noqa: S311 (no secret)


class SimulatedGateways:
    """One per run of several gateways."""

    def __init__(self, routers: Sequence[Router], sharing: Sharing | None, chance: Callable[[], float]) -> None:
        """Without `sharing` each goes by itself and by gauges."""
        self._routers = routers
        self._chance = chance
        self._sharing = sharing
        self._reports = [WorkerReports(router, None, name=str(number)) for number, router in enumerate(routers)]
        self._left: list[list[_Left]] = [[] for _ in routers]  # by sender, the newest last
        self._gossip: list[_Left] = []
        self._gossip_read = [0 for _ in routers]
        self._turns = 0  # that were had, of one gateway after the other

    def draw(self) -> Router:
        """The gateway that a request comes to."""
        return self._routers[int(self._chance() * len(self._routers))]

    def publish(self, fleet: FleetSnapshot, now_s: float) -> None:
        """All of them see the same fleet."""
        for router in self._routers:
            router.publish(fleet, now_s)

    def take_turns(self, now_s: float) -> float:
        """All turns that were due by now; when the next one is."""
        sharing = self._sharing
        if sharing is None:
            return inf
        while (at_s := self._turns * sharing.interval_s / len(self._routers)) <= now_s:
            number = self._turns % len(self._routers)
            if not sharing.away_from_s <= at_s < sharing.away_until_s:
                self._leave(number, at_s)
                self._read(number, until_s=at_s - sharing.delay_s, kept_s=sharing.interval_s + sharing.delay_s)
            self._reports[number].apply(at_s)
            self._turns += 1
        return at_s

    def _leave(self, number: int, at_s: float) -> None:
        version, body = self._reports[number].compose(at_s)
        self._left[number].append(_Left(at_s, number, version, body))
        while (message := self._routers[number].take_gossip()) is not None:
            self._gossip.append(_Left(at_s, number, 0, message))

    def _read(self, number: int, *, until_s: float, kept_s: float) -> None:
        for sender, reports in enumerate(self._left):
            while len(reports) > 1 and reports[1].at_s <= until_s - kept_s:
                del reports[0]  # everybody has had a turn since
            seen = [one for one in reports if one.at_s <= until_s]
            if seen and sender != number:
                newest = seen[-1]
                self._reports[number].hear(str(sender), newest.version, newest.at_s, newest.body)
        read = self._gossip_read[number]
        while read < len(self._gossip) and self._gossip[read].at_s <= until_s:
            message = self._gossip[read]
            if message.sender != number:
                self._routers[number].receive_gossip(message.body)
            read += 1
        self._gossip_read[number] = read
        if done := min(self._gossip_read):
            del self._gossip[:done]
            self._gossip_read = [one - done for one in self._gossip_read]
