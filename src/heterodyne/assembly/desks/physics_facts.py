"""What the performance model knows: the catalogue with the settings' changes, and what was measured here."""

from collections.abc import Mapping

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerators, with_overrides
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.profile import Profile
from heterodyne.physics.settings import PhysicsSettings
from heterodyne.registry.profile_store import own_profiles
from heterodyne.telemetry import log

_log = log.get("assembly")


class PhysicsFacts(Struct, frozen=True, kw_only=True):
    """By the settings of one moment."""

    catalogue: Mapping[str, Accelerator]
    measured: tuple[Profile, ...]


def physics_facts(settings: PhysicsSettings) -> PhysicsFacts:
    """Reads files, so it is for a thread; profiles that cannot be read cost only what they would have added."""
    try:
        measured = own_profiles(settings.profiles)
    except InvalidSpec as error:
        _log.warning("profiles_unreadable", error=str(error))
        measured = ()
    return PhysicsFacts(catalogue=with_overrides(accelerators(), settings.hardware), measured=measured)
