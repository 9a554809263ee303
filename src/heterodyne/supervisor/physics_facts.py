"""What the performance model knows: the catalogue with the settings' changes, and what was measured here."""

from collections.abc import Mapping

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerators, with_overrides
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.profile import Profile
from heterodyne.physics.settings import PhysicsSettings
from heterodyne.registry.profile_store import own_profiles_files, read_profiles
from heterodyne.telemetry import log

_log = log.get("assembly")


class PhysicsFacts(Struct, frozen=True, kw_only=True):
    """By the settings of one moment."""

    catalogue: Mapping[str, Accelerator]
    measured: tuple[Profile, ...]


def physics_facts(settings: PhysicsSettings) -> PhysicsFacts:
    """Reads files, so it runs in a thread."""
    return PhysicsFacts(
        catalogue=with_overrides(accelerators(), settings.hardware), measured=_measured(settings.profiles)
    )


def _measured(named: tuple[str, ...] | None) -> tuple[Profile, ...]:
    """The operator's own profiles; a file that cannot be read costs only what it would have added."""
    found: list[Profile] = []
    for file in own_profiles_files(named):
        try:
            found += read_profiles(file, is_required=named is not None)
        except InvalidSpec as error:
            _log.warning("profiles_unreadable", error=str(error))
    return tuple(found)
