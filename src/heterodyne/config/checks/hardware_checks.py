"""Checks of hardware: facts that are possible, and names that are known."""

from collections.abc import Iterator, Mapping, Sequence

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.physics.catalogue import accelerator, accelerators, with_overrides
from heterodyne.physics.hardware import Accelerator


def hardware_facts_can_be(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A chip described in the settings has the fields of the catalogue, with numbers that can be."""
    known = accelerators() if settings.physics.hardware else {}
    for name, fields in settings.physics.hardware.items():
        # Fields that replace the catalogue's are judged one by one, so that all mistakes are shown at once.
        for some in [{field: value} for field, value in fields.items()] if name in known else [fields]:
            try:
                with_overrides(known, {name: some}, path="physics.hardware")
            except InvalidSpec as error:
                path, _colon, message = error.message.partition(": ")
                yield SettingProblem(path=path, message=message)


def hardware_is_known(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A pool's hardware, and that of its link, is in the catalogue, or described in the settings."""
    named = [
        (dotted(POOLS, name, field), hardware)
        for name, pool in settings.pools.items()
        for field, hardware in (("hardware", pool.hardware), ("kv_link", pool.kv_link))
        if hardware is not None
    ]
    yield from unknown_hardware(settings, named)


def unknown_hardware(settings: Settings, named: Sequence[tuple[str, str]]) -> Iterator[SettingProblem]:
    """Of chips that are named at these paths, those that are neither in the catalogue nor in the settings."""
    known, misdescribed = known_hardware(settings) if named else ({}, set())
    for path, hardware in named:
        if hardware in misdescribed:
            continue  # its problems are reported where it is described
        try:
            accelerator(hardware, known)
        except UnknownName as error:
            yield SettingProblem(path=path, message=error.message, rests_on=("physics.hardware",))


def known_hardware(settings: Settings) -> tuple[Mapping[str, Accelerator], set[str]]:
    """The catalogue with what the settings describe, and the names whose description cannot be."""
    known, misdescribed = accelerators(), set()
    for name, fields in settings.physics.hardware.items():
        try:
            known = with_overrides(known, {name: fields})
        except InvalidSpec:
            misdescribed.add(name)
    return known, misdescribed
