"""What one request would take on one replica, in seconds and dollars, and what it was worked out from."""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from heterodyne.routing.replica_state import ReplicaState


class Forecast(Struct, frozen=True, gc=False):
    """One candidate. What its TTFT is made of is kept, so that the truth can be held against it."""

    state: "ReplicaState"
    ttft_s: float
    ttft_high_s: float  # 19 times out of 20 it is sooner
    itl_s: float
    itl_high_s: float
    risk: float  # promises that it is expected to break: its own, and those made to others on the replica
    share_s: float  # of the replica's time: its prompt, and its part of the steps of a batch
    usd: float  # infinite: nobody says what the replica costs
    load: float  # share of its room that is taken, 1 or more when it is full
    cached_tokens: float
    work_s: float  # its prompt alone, by the prior
    steps_s: float  # steps of others that its prompt shares or waits for, by the prior
    backlog_s: float  # until the prompts before it are done
    room_s: float  # until there is memory or a slot, where that is later
    link_s: float = 0.0  # to fetch what another replica has of its prompt

    @property
    def wait_s(self) -> float:
        """Before anybody turns to it."""
        return self.room_s or self.backlog_s

    @property
    def ttft_low_s(self) -> float:
        """19 times out of 20 it is later."""
        return self.ttft_s * self.state.ttft_band(self).low

    @property
    def itl_low_s(self) -> float:
        """The same, of the time between tokens."""
        return self.itl_s * self.state.speed.itl_band.low
