"""Policies against abuse have settings that are heeded, and hold for somebody."""

import pytest

from heterodyne.config.checks import abuse_checks
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.safety.abuse.settings import AbuseSettings

CHECKS = (abuse_checks.policies_are_given_their_own_settings, abuse_checks.scopes_of_abuse_have_projects_and_models)


def problems(**policy: object) -> list[SettingProblem]:
    settings = Settings(abuse={"one": AbuseSettings(**policy)})
    return [problem for check in CHECKS for problem in check(settings, {})]


@pytest.mark.parametrize("policy", [
    {"watch": "similar_prompts", "keys_min": 20, "across": "projects", "similarity_min": 0.5},
    {"watch": "extraction", "logits_min": 50, "action": "slow_down", "requests_per_minute": 2, "window_s": 600},
    {"watch": "cost", "usd_min": 0.0, "false_alarms_per_year": 0.1, "action": "block", "hold_s": 86_400},
])  # fmt: skip
def test_settings_of_what_is_watched_are_fine(policy: dict[str, object]) -> None:
    assert problems(**policy) == []


@pytest.mark.parametrize(("policy", "path"), [
    ({"watch": "cost", "keys_min": 5}, "abuse.one.keys_min"),
    ({"watch": "similar_prompts", "usd_min": 5.0}, "abuse.one.usd_min"),
    ({"watch": "extraction", "prompts_min": 5}, "abuse.one.prompts_min"),
    ({"watch": "cost", "action": "block", "requests_per_minute": 5}, "abuse.one.requests_per_minute"),
    ({"watch": "cost", "projects": ()}, "abuse.one.projects"),
    ({"watch": "cost", "models": ()}, "abuse.one.models"),
])  # fmt: skip
def test_what_would_do_nothing_is_refused_with_its_path(policy: dict[str, object], path: str) -> None:
    assert [problem.path for problem in problems(**policy)] == [path]
