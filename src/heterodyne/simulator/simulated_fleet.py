"""The replicas of one run: those that the router is shown, with the gauges that were read last, and those gone."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from heterodyne.domain.fleet import FleetSnapshot, ModelRule, Replica, ReplicaId
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.replica import SimulatedReplica


class SimulatedFleet:
    """Replicas have numbers, in the order they came."""

    def __init__(
        self, rules: dict[str, ModelRule], clocks: Mapping[str, StepClock], *, hash_tokens: int, changes: bool
    ) -> None:
        """Of one model, that of the rules; `changes`: replicas come, drain and go."""
        self.replicas: list[SimulatedReplica] = []
        self.numbers: dict[ReplicaId, int] = {}
        self.usable: Sequence[Replica] = ()
        self._rules = rules
        self._clocks = clocks
        self.hash_tokens = hash_tokens
        self._changes = changes
        self._listed: dict[int, Replica] = {}
        self._version = 0

    def of(self, listed: Replica) -> SimulatedReplica:
        """The one that is listed so."""
        return self.replicas[self.numbers[listed.id]]

    def able(self, tokens: int) -> Sequence[Replica]:
        """Who has the memory and the context for so long a sequence."""
        return [listed for listed in self.usable if tokens <= self.of(listed).sequence_tokens_max]

    def add(self, pool: LaidOutPool, listed: Replica) -> int:
        """One more of a pool."""
        [machine] = structs.replace(pool, replicas=(listed,)).machines(self.hash_tokens, self._clocks[pool.name])
        number = len(self.replicas)
        kv = pool.kv.replica_kv(self.hash_tokens)
        self.replicas.append(
            SimulatedReplica(number, listed, machine, kv, sequence_tokens_max=pool.sequence_tokens_max)
        )
        self.numbers[listed.id] = number
        self._listed[number] = listed
        return number

    def remove(self, number: int) -> None:
        """It is listed no more."""
        del self._listed[number]

    def drain(self, number: int, *, is_draining: bool) -> None:
        """It takes nothing new, or does again."""
        replica = self.replicas[number]
        replica.listed = structs.replace(replica.listed, is_draining=is_draining)
        self._listed[number] = structs.replace(self._listed[number], is_draining=is_draining)

    def read_gauges(self, turn: int, passed: int, turns: int, at_s: float) -> None:
        """Of those whose turn was among the last that passed; each has one in so many."""
        for number in self._listed:
            if (turn + number) % turns < passed:
                replica = self.replicas[number]
                self._listed[number] = structs.replace(replica.listed, load=replica.load(), load_at_s=at_s)

    def snapshot(self) -> FleetSnapshot:
        """As the router is shown it."""
        self._version += 1
        fleet = FleetSnapshot.of(self._version, tuple(self._listed.values()), self._rules)
        (model,) = self._rules
        self.usable = fleet.by_model.get(model, ())
        if self._changes:
            self.usable = tuple([one for one in self.usable if one.is_takeable])
        return fleet
