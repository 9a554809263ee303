"""The catalogue and the measured profiles of this run: what travels with the package, and what the settings add."""

from typing import TYPE_CHECKING

import click

from heterodyne.cli.invocation import Invocation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from heterodyne.physics.hardware import Accelerator
    from heterodyne.physics.profile import Profile
    from heterodyne.physics.settings import PhysicsSettings


def catalogue() -> "Mapping[str, Accelerator]":
    """Every accelerator, as the settings have it."""
    from heterodyne.physics.catalogue import accelerators, with_overrides

    return with_overrides(accelerators(), _settings().hardware, path="physics.hardware")


def own_profiles() -> "tuple[Profile, ...]":
    """What the operator measured; a file the settings name must be there, the default one need not."""
    from heterodyne.registry import profile_store

    return profile_store.own_profiles(_settings().profiles)


def own_profiles_files() -> "list[Path]":
    """The files of measured profiles, at least one; a new profile goes into the first."""
    from heterodyne.registry import profile_store

    return profile_store.own_profiles_files(_settings().profiles or None)


def _settings() -> "PhysicsSettings":
    invocation = click.get_current_context().find_object(Invocation) or Invocation()
    return invocation.settings().physics
