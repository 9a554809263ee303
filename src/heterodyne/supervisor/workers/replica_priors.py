"""What physics says of a replica, from the pool it is in: the beginning of every prediction."""

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import Replica
from heterodyne.routing.prediction.pool_prior import try_prior
from heterodyne.routing.prediction.prior import Prior
from heterodyne.supervisor.physics_facts import physics_facts


class ReplicaPriors:
    """By the latest settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def prior_of(self, replica: Replica) -> Prior | None:
        """None where nothing is known of the model or the hardware; then everything has to be learned."""
        pool = self.settings.pools.get(replica.pool)
        if pool is None or pool.hardware is None:
            return None
        facts = physics_facts(self.settings.physics)
        return try_prior(pool, facts.catalogue, facts.measured)
