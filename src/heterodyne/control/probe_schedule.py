"""How often replicas are looked at. Pure: chance comes in as a number from 0 to 1."""

from msgspec import Struct


class ProbeSchedule(Struct, frozen=True, kw_only=True):
    """Intervals before jitter; a large fleet, or many workers, stretch them."""

    ready_interval_s: float = 2.0
    down_interval_min_s: float = 0.2  # doubles with every look that finds the replica not ready
    down_interval_max_s: float = 2.0
    jitter: float = 0.2  # of an interval, either way: workers that started together do not stay together
    probes_per_s_max: float = 64.0  # of one worker at its whole fleet: under a twentieth of a core
    probes_per_s_at_replica_max: float = 4.0  # of all workers together at one replica
    start_gap_s: float = 0.001  # between first looks: a large fleet is not asked in one burst

    def interval_s(self, replicas: int, workers: int) -> float:
        """Between looks at a replica that is ready."""
        return max(self.ready_interval_s, replicas / self.probes_per_s_max, workers / self.probes_per_s_at_replica_max)

    def first_pause_s(self, replicas: int, chance: float) -> float:
        """Before the first look."""
        return replicas * self.start_gap_s * chance

    def pause_s(self, failures: int, interval_s: float, chance: float) -> float:
        """After a look; `failures` is how many in a row found the replica not ready."""
        if failures:
            longest_s = self.down_interval_max_s * interval_s / self.ready_interval_s
            interval_s = min(longest_s, self.down_interval_min_s * 2.0 ** min(failures - 1, 16))
        return interval_s * (1.0 + self.jitter * (2.0 * chance - 1.0))


USUAL = ProbeSchedule()
