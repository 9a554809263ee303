"""How the requests of a model are shared out while one of its pools takes over from others."""

from msgspec import Struct


class RolloutSplit(Struct, frozen=True, kw_only=True):
    """What a rollout asks of the data plane at one moment."""

    rollout: str  # its id
    candidate_pools: tuple[str, ...]
    baseline_pools: tuple[str, ...]
    share: float  # of conversations that begin now, those that the candidate gets
    share_before: float = 0.0  # in the stage before: what a conversation that goes on most likely began under
    is_completed: bool = False  # the candidate is what serves now
    copies_per_s: float = 0.0  # of users' requests, that a worker asks both sides without giving anybody the answers
    # While shares are small: the candidate's replicas that its share needs, and as many of the baseline's that get the
    # same share, so that times are compared at the same load. None: all of a side.
    candidate_replicas: tuple[str, ...] = ()
    control_replicas: tuple[str, ...] = ()

    @property
    def has_users(self) -> bool:
        """Whether users are on both sides; of one that has ended, either side has nobody."""
        return self.share > 0.0 and not self.is_completed

    @property
    def has_copies(self) -> bool:
        """Whether both sides are asked copies."""
        return self.copies_per_s > 0.0

    def is_candidate(self, pool: str) -> bool:
        """Which side a pool is on; one that came later is on the side that serves."""
        return pool not in self.baseline_pools if self.is_completed else pool in self.candidate_pools
