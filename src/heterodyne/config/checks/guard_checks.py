"""Checks of policies: a guard that exists and can be asked, settings that are its own, an action that it can take."""

import re
from collections.abc import Iterator, Mapping

from heterodyne.config.fields import GUARDS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import field_of_every_pool, purposes
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import or_nearest
from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.domain.fleet import Purpose
from heterodyne.safety.registry import GUARDS as KNOWN
from heterodyne.safety.registry import SCHEMA, SYSTEM_PROMPT, guard_named

NAMED = re.compile(r"`(\w+)`")  # a complaint that begins with the setting that it is about
OWN = (  # settings of one guard or another
    *("kinds", "locales", "words"),
    *("tools", "tools_denied", "arguments_denied", "roots_allowed", "hosts_allowed", "calls_max", "argument_chars_max"),
    *("json_schema", "prompt_chars_max", "prompt_tokens_max", "messages_max", "answer_chars_max"),
    *("language", "spacy_model"),
    *("url", "api_key_env", "judge_model", "instructions", "timeout_ms", "on_failure"),
)


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
            named = NAMED.match(error.message)
            field = (named[1],) if named is not None and named[1] in KNOWN[policy.guard].heeds else ()
            yield SettingProblem(path=dotted(GUARDS, name, *field), message=error.message)


def guards_are_given_their_own_settings(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Words for a guard that has none would do nothing."""
    for name, policy in settings.guards.items():
        guard = KNOWN.get(policy.guard)
        for field in OWN if guard is not None else ():
            if getattr(policy, field) not in (None, ()) and guard is not None and field not in guard.heeds:
                yield SettingProblem(
                    path=dotted(GUARDS, name, field), message=f"the guard `{policy.guard}` has no such setting"
                )


def answers_alone_are_looked_at_by_some(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A request tells its own system prompt by right, and is of its API's schema."""
    for name, policy in settings.guards.items():
        if policy.guard in (SYSTEM_PROMPT, SCHEMA) and policy.direction == "input":
            message = f"`{policy.guard}` looks at answers by what their request says; remove the line"
            yield SettingProblem(path=dotted(GUARDS, name, "direction"), message=message)


def masks_have_something_to_stand_for(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """An order to forget all rules is no value that a placeholder could stand for."""
    for name, policy in settings.guards.items():
        guard = KNOWN.get(policy.guard)
        if guard is not None and policy.action == "mask" and not guard.can_mask:
            message = f"what `{policy.guard}` finds cannot be masked; choose `flag` or `block`"
            yield SettingProblem(path=dotted(GUARDS, name, "action"), message=message)


def judges_are_served(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A model that judges is one of this fleet, and writes."""
    served = purposes(settings)
    aliases = {alias: name for name, model in settings.models.items() for alias in model.aliases}
    for name, policy in settings.guards.items():
        judge = policy.judge_model
        if not judge:
            continue
        purpose = served.get(aliases.get(judge, judge))
        if purpose is None:
            message = or_nearest(f'no pool serves "{judge}"', judge, [*served, *aliases])
        elif purpose != Purpose.GENERATE:
            message = f'"{judge}" does not write, and so cannot say what it thinks'
        else:
            continue
        path = dotted(GUARDS, name, "judge_model")
        yield SettingProblem(path=path, message=message, rests_on=field_of_every_pool(settings, "model", "purpose"))


def keys_of_guards_are_present(settings: Settings, environment: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A key that is named must be there, or every question is refused."""
    for name, policy in settings.guards.items():
        variable = policy.api_key_env
        if variable is not None and not environment.get(variable):
            message = f"the environment variable {variable} is not set"
            yield SettingProblem(path=dotted(GUARDS, name, "api_key_env"), message=message)


def what_flags_refuses_nothing(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Nobody waits for a policy that only flags, so that there is nothing left to refuse."""
    for name, policy in settings.guards.items():
        if policy.action == "flag" and policy.on_failure == "refuse":
            message = "a policy that flags holds up nothing, and so cannot refuse anything; choose `block`"
            yield SettingProblem(path=dotted(GUARDS, name, "on_failure"), message=message)


def verdicts_come_within_the_longest_deadline(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A judge is asked as every model is, with a deadline."""
    longest_ms = settings.gateway.deadline_max_s * 1000
    for name, policy in settings.guards.items():
        guard = KNOWN.get(policy.guard)
        waits_ms = 0 if guard is None or not guard.timeout_ms else policy.timeout_ms or guard.timeout_ms
        if waits_ms > longest_ms:
            yield SettingProblem(
                path=dotted(GUARDS, name, "timeout_ms"),
                message=f"{waits_ms} is more than gateway.deadline_max_s lets any request wait ({longest_ms:g} ms)",
                rests_on=("gateway.deadline_max_s",),
            )
