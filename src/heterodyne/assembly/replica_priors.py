"""What physics says of a replica, from the pool it is in: the beginning of every prediction."""

from heterodyne.config.settings import Settings
from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import Replica
from heterodyne.physics.catalogue import accelerators, with_overrides
from heterodyne.physics.profile import Profile
from heterodyne.registry.profile_store import own_profiles_files, read_profiles
from heterodyne.routing.prediction.of_pool import try_prior
from heterodyne.routing.prediction.prior import Prior
from heterodyne.telemetry import log

_log = log.get("assembly")


class ReplicaPriors:
    """By the latest settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def prior_of(self, replica: Replica) -> Prior | None:
        """None where nothing is known of the model or the hardware; then everything has to be learned."""
        pool = self.settings.pools.get(replica.pool)
        if pool is None or pool.hardware is None:
            return None
        physics = self.settings.physics
        return try_prior(pool, with_overrides(accelerators(), physics.hardware), _measured(physics.profiles))


def _measured(named: tuple[str, ...] | None) -> tuple[Profile, ...]:
    """The operator's own profiles; a file that cannot be read costs only what it would have added."""
    found: list[Profile] = []
    for file in own_profiles_files(named):
        try:
            found += read_profiles(file, is_required=named is not None)
        except InvalidSpec as error:
            _log.warning("profiles_unreadable", error=str(error))
    return tuple(found)
