"""Checks of policies: a guard that exists, settings that are its own, and an action that it can take."""

from collections.abc import Iterator, Mapping

from heterodyne.config.fields import GUARDS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.safety.registry import GUARDS as KNOWN
from heterodyne.safety.registry import guard_named

OWN = ("kinds", "locales", "words")  # settings of one guard or another


def guards_are_known(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A policy names one of ours, with kinds and countries that it knows."""
    for name, policy in settings.guards.items():
        try:
            guard_named(policy.guard)
        except UnknownName as error:
            yield SettingProblem(path=dotted(GUARDS, name, "guard"), message=error.message)
            continue
        try:
            KNOWN[policy.guard].make(policy)
        except (InvalidSpec, UnknownName) as error:
            yield SettingProblem(path=dotted(GUARDS, name), message=error.message)


def guards_are_given_their_own_settings(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Words for a guard that has none would do nothing."""
    for name, policy in settings.guards.items():
        guard = KNOWN.get(policy.guard)
        for field in OWN if guard is not None else ():
            if getattr(policy, field) and guard is not None and field not in guard.heeds:
                yield SettingProblem(
                    path=dotted(GUARDS, name, field), message=f"the guard `{policy.guard}` has no such setting"
                )


def masks_have_something_to_stand_for(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """An order to forget all rules is no value that a placeholder could stand for."""
    for name, policy in settings.guards.items():
        guard = KNOWN.get(policy.guard)
        if guard is not None and policy.action == "mask" and not guard.can_mask:
            message = f"what `{policy.guard}` finds cannot be masked; choose `flag` or `block`"
            yield SettingProblem(path=dotted(GUARDS, name, "action"), message=message)
