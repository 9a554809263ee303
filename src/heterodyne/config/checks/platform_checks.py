"""Checks of pools whose command runs on other machines, each one sentence for the operator."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from msgspec.structs import fields

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import Settings
from heterodyne.fleet.platform_settings import PlacedPoolSettings

RUNS_ON = "runs_on"
PLATFORMS = ("ray", "ssh", "slurm")


def a_command_runs_where_it_is_said(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Commands alone run elsewhere, and what is said of a platform is said of one that runs it."""
    for name, pool in settings.pools.items():
        if pool.runs_on != "here" and not pool.command:
            yield SettingProblem(
                path=dotted(POOLS, name, RUNS_ON),
                message=f'"{pool.runs_on}" runs a command; give one',
                rests_on=(dotted(POOLS, name, "command"),),
            )
        for one in fields(PlacedPoolSettings):
            platform = one.name.partition("_")[0]
            if platform in PLATFORMS and platform != pool.runs_on and getattr(pool, one.name) != _default(one):
                yield SettingProblem(
                    path=dotted(POOLS, name, one.name),
                    message=f'says nothing without `runs_on = "{platform}"`',
                    rests_on=(dotted(POOLS, name, RUNS_ON),),
                )


def no_two_replicas_have_one_place(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """A port of a host is one pool's."""
    taken: dict[tuple[str, int], str] = {}
    for name, pool in settings.pools.items():
        if pool.runs_on != "ssh":
            continue
        for host, slots in pool.ssh_hosts.items():
            ports = range(pool.ssh_port_first, pool.ssh_port_first + slots)
            other = next((taken[host, port] for port in ports if (host, port) in taken), None)
            if other is not None:
                yield SettingProblem(
                    path=dotted(POOLS, name, "ssh_port_first"),
                    message=f"{host} has ports from {ports.start} to {ports[-1]} here, and pool {other} has some of "
                    "them; give each its own",
                    rests_on=(dotted(POOLS, other, "ssh_port_first"),),
                )
            taken |= {(host, port): name for port in ports}


def a_platform_can_be_asked(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Where it is, is known, and what speaks with it is installed."""
    for name, pool in settings.pools.items():
        if pool.runs_on == "ssh" and not pool.ssh_hosts:
            yield SettingProblem(
                path=dotted(POOLS, name, RUNS_ON),
                message="no host is known; list some in ssh_hosts",
                rests_on=(dotted(POOLS, name, "ssh_hosts"),),
            )
        if pool.runs_on != "ray":
            continue
        if settings.fleet.ray_address is None:
            yield SettingProblem(
                path=dotted(POOLS, name, RUNS_ON),
                message="no cluster is known; set fleet.ray_address",
                rests_on=("fleet.ray_address",),
            )
        if find_spec("ray") is None:
            message = "takes Ray, which is not installed: pip install 'heterodyne[ray]'"
            yield SettingProblem(path=dotted(POOLS, name, RUNS_ON), message=message)


def _default(field: object) -> object:
    """Of a field of settings; tables are made anew for each."""
    factory = getattr(field, "default_factory", None)
    return factory() if callable(factory) else getattr(field, "default", None)
