"""Settings of the step model: facts about chips that differ here, and profiles measured here."""

from typing import Annotated, Any

from msgspec import Meta, Struct, field


class PhysicsSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What plans know of hardware."""

    hardware: Annotated[
        dict[str, dict[str, Any]],
        Meta(
            description="Accelerators by name, as [physics.hardware.NAME]: fields that replace the catalogue's, "
            "or every field of a chip it lacks. A list or table replaces the whole list or table."
        ),
    ] = field(default_factory=dict)
    profiles: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Files of measured profiles; `heterodyne calibrate` writes to the first. Absent, "
            "`profiles.toml` of `heterodyne` in the user's data folder."
        ),
    ] = None
