"""Pure: how many requests run at once, per worker and per replica."""

from heterodyne.domain.errors import Draining, Overloaded
from heterodyne.domain.fleet import ReplicaId

PATIENT_SHARE = 0.9  # of the places, that batch and background work may fill: whoever is waited for finds one


class ConcurrencyLimit:
    """Counts requests and, by replica, attempts; what is entered is left and what is occupied vacated, once each."""

    __slots__ = ("_in_flight_max", "_retry_after_s", "by_replica", "in_flight", "is_draining")

    def __init__(self, in_flight_max: int, retry_after_s: int) -> None:
        self._in_flight_max = in_flight_max
        self._retry_after_s = retry_after_s
        self.in_flight = 0
        self.is_draining = False
        self.by_replica: dict[ReplicaId, int] = {}

    def resize(self, in_flight_max: int, retry_after_s: int) -> None:
        """Another limit from the next request on; whoever is in may stay."""
        self._in_flight_max, self._retry_after_s = in_flight_max, retry_after_s

    def check_room(self) -> None:
        """Raise when one more request may not start."""
        if self.is_draining:
            raise Draining("This gateway is shutting down.", retry_after_s=self._retry_after_s)
        if self.in_flight >= self._in_flight_max:
            raise Overloaded(
                f"The gateway already runs {self.in_flight} requests, as many as it may.",
                retry_after_s=self._retry_after_s,
            )

    @property
    def has_patient_room(self) -> bool:
        """Whether one more of batch or background work may start."""
        return self.in_flight < PATIENT_SHARE * self._in_flight_max

    def enter(self) -> None:
        """One more request is being answered."""
        self.in_flight += 1

    def leave(self) -> None:
        """One fewer."""
        self.in_flight -= 1

    def occupy(self, replica: ReplicaId) -> None:
        """An attempt now runs on the replica."""
        self.by_replica[replica] = self.by_replica.get(replica, 0) + 1

    def vacate(self, replica: ReplicaId) -> None:
        """It no longer does; a replica with nothing in flight is forgotten."""
        left = self.by_replica[replica] - 1
        if left:
            self.by_replica[replica] = left
        else:
            del self.by_replica[replica]
