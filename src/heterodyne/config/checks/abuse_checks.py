"""Checks of policies against abuse: settings that are heeded by what is watched, and somebody whom they hold for."""

from collections.abc import Iterator, Mapping
from typing import Final

from heterodyne.config.fields import ABUSE, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings

OWN: Final[Mapping[str, tuple[str, ...]]] = {
    "similar_prompts": ("window_s", "keys_min", "prompts_min", "across", "similarity_min", "words_min"),
    "extraction": (
        *("window_s", "similarity_min", "words_min"),
        *("logits_min", "temperatures_min", "verbatim_min", "series_min"),
    ),
    "cost": ("usd_min", "factor_min", "false_alarms_per_year", "warm_up_hours"),
}
OF_ANY: Final = frozenset(field for fields in OWN.values() for field in fields)


def policies_are_given_their_own_settings(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A threshold of something else would do nothing."""
    for name, policy in settings.abuse.items():
        for field in sorted(OF_ANY.difference(OWN[policy.watch])):
            if getattr(policy, field) is not None:
                message = f"`{policy.watch}` does not go by that; remove the line"
                yield SettingProblem(path=dotted(ABUSE, name, field), message=message)
        if policy.requests_per_minute is not None and policy.action != "slow_down":
            message = f"`{policy.action}` lets nobody wait; choose `slow_down`, or remove the line"
            yield SettingProblem(path=dotted(ABUSE, name, "requests_per_minute"), message=message)


def scopes_of_abuse_have_projects_and_models(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """An empty list holds for nobody."""
    for name, policy in settings.abuse.items():
        for field in ("projects", "models"):
            if not getattr(policy, field):
                message = "an empty list holds for nothing; `*` stands for everything"
                yield SettingProblem(path=dotted(ABUSE, name, field), message=message)
