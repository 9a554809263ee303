"""Commands that run on other machines."""

from typing import Any

import pytest
from msgspec import ValidationError, convert

from heterodyne.config.checks.platform_checks import (
    a_command_runs_where_it_is_said,
    a_platform_can_be_asked,
    no_two_replicas_have_one_place,
)
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


def test_hosts_are_listed_for_ssh() -> None:
    [problem] = a_platform_can_be_asked(settings_of({"command": COMMAND, "runs_on": "ssh"}), {})
    assert (problem.path, problem.message) == ("pools.chat.runs_on", "no host is known; list some in ssh_hosts")


def test_a_port_of_a_host_is_one_pools() -> None:
    pool = {"model": "m", "command": COMMAND, "runs_on": "ssh", "ssh_hosts": {"gpu-a": 4}}

    def complaints(first: int) -> list[str]:
        pools = {"chat": pool, "code": {**pool, "ssh_port_first": first}}
        return [one.message for one in no_two_replicas_have_one_place(convert({"pools": pools}, Settings), {})]

    assert complaints(30004) == []
    [said] = complaints(30003)
    assert said == "gpu-a has ports from 30003 to 30006 here, and pool chat has some of them; give each its own"


def test_a_host_is_no_option_of_ssh() -> None:
    with pytest.raises(ValidationError, match="ssh_hosts"):
        settings_of({"command": COMMAND, "runs_on": "ssh", "ssh_hosts": {"-oProxyCommand=reboot": 1}})
