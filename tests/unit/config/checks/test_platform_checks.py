"""Commands that run on other machines."""

from typing import Any

from msgspec import convert

from heterodyne.config.checks.platform_checks import a_command_runs_where_it_is_said, a_platform_can_be_asked
from heterodyne.config.settings import Settings

COMMAND = ["serve", "--port", "{port}"]


def settings_of(pool: dict[str, Any], **fleet: Any) -> Settings:
    return convert({"pools": {"chat": {"model": "m", **pool}}, "fleet": fleet}, Settings)


def test_a_command_may_run_on_ray() -> None:
    settings = settings_of(
        {"command": COMMAND, "runs_on": "ray", "ray_labels": {"team": "chat"}}, ray_address="ray://head:10001"
    )
    assert not list(a_command_runs_where_it_is_said(settings, {}))
    assert not [one for one in a_platform_can_be_asked(settings, {}) if "installed" not in one.message]


def test_only_a_command_runs_elsewhere() -> None:
    settings = settings_of({"urls": ["http://a:1"], "runs_on": "ray"})
    [problem] = a_command_runs_where_it_is_said(settings, {})
    assert (problem.path, problem.message) == ("pools.chat.runs_on", '"ray" runs a command; give one')


def test_what_is_said_of_a_platform_that_does_not_run_it_says_nothing() -> None:
    settings = settings_of({"command": COMMAND, "ray_gpus": 1.0})
    [problem] = a_command_runs_where_it_is_said(settings, {})
    assert (problem.path, problem.message) == ("pools.chat.ray_gpus", 'says nothing without `runs_on = "ray"`')


def test_a_ray_pool_has_a_cluster() -> None:
    settings = settings_of({"command": COMMAND, "runs_on": "ray"})
    problems = list(a_platform_can_be_asked(settings, {}))
    assert "no cluster is known; set fleet.ray_address" in [one.message for one in problems]
