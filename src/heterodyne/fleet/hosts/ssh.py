"""Hosts over SSH: each has a number of places, a port each, for the replicas of a pool.

The system's own `ssh` is run, so keys, jumps, and hosts that are believed are where operators have them already.
"""

import asyncio
import secrets
from collections.abc import Sequence

from msgspec import Struct, structs

from heterodyne.domain.errors import DriverRefused, DriverUnavailable
from heterodyne.fleet.hosts.platform import CommandReplica, PlacedPool
from heterodyne.fleet.hosts.program import Ran, run_program
from heterodyne.fleet.hosts.ssh_script import FIND, LOG_BYTES, START, STOP, HostSlot, read_slots, remote_words

TIMEOUT_S = 20.0
AT_ONCE_MAX = 16
NO_CONNECTION = 255  # ssh's own failures; all others are the script's


class SshAccess(Struct, frozen=True, kw_only=True):
    """How hosts are reached."""

    command: tuple[str, ...]  # with `{host}`
    folder: str  # on each host, under the home of who is logged in
    namespace: str  # whose replicas these are


class SshPlatform:
    """One per gateway."""

    name = "ssh"

    def __init__(self, access: SshAccess) -> None:
        self._access = access
        self._ours = secrets.token_hex(3)  # begins the ids of what this gateway has started
        self._seen: dict[tuple[str, str], dict[str, CommandReplica]] = {}  # by pool and host, by id
        self._taken: dict[str, set[int]] = {}  # ports of each host, whoever has them
        self._problems: dict[tuple[str, str], str] = {}  # of hosts that do not answer
        self._ended: set[str] = set()  # that were stopped from here
        self._turns = asyncio.Semaphore(AT_ONCE_MAX)

    def take(self, access: SshAccess) -> None:
        """Other settings hold."""
        self._access = access

    async def find(self, pool: PlacedPool) -> tuple[CommandReplica, ...]:
        """Ask every host of the pool; one that does not answer is left out, unless none does."""
        hosts = tuple(pool.settings.ssh_hosts)
        async with asyncio.TaskGroup() as group:  # which, cancelled, waits until every `ssh` is gone
            asked = [group.create_task(self._find(pool, host), name=f"find {host}") for host in hosts]
        if hosts and all((pool.name, host) in self._problems for host in hosts):
            raise DriverUnavailable("; ".join(self._problems[pool.name, host] for host in hosts))
        return tuple(one for of_host in asked for one in of_host.result())

    async def start(self, pool: PlacedPool) -> CommandReplica:
        """On the host that has most places left, on its first free port."""
        free = self._free(pool)
        if not free:
            raise DriverRefused(self._full(pool))
        refused = []
        for host, port in free:
            id = f"{pool.name}-{self._ours}{secrets.token_hex(2)}"
            words = [_filled(word, host, port, pool) for word in pool.pool.words]
            access = self._access
            ran = await self._run(host, START, (access.folder, str(port), self._owner(pool), id, *words))
            if ran.code == 0:
                slot = HostSlot(port=port, owner="", id=id, runs=True, is_stopped=False, age_s=0.0, said="")
                one = self._found(pool, host, slot)
                self._seen.setdefault((pool.name, host), {})[id] = one
                self._taken[host].add(port)
                return one
            refused.append(f"{host}:{port}: {ran.complaint}")
        raise DriverRefused("; ".join(refused))

    async def stop(self, pool: PlacedPool, replica: CommandReplica) -> None:
        """Ask its process to end, wait, insist; its folder goes with it."""
        host, _, port = replica.place.rpartition(":")
        self._ended.add(replica.id)
        within_s = pool.pool.stop_timeout_s
        arguments = (self._access.folder, port, replica.id, str(int(within_s)))
        ran = await self._run(host, STOP, arguments, timeout_s=TIMEOUT_S + within_s)
        if ran.code != 0:
            raise DriverUnavailable(f"{replica.place}: {ran.complaint}")

    async def _find(self, pool: PlacedPool, host: str) -> tuple[CommandReplica, ...]:
        key = (pool.name, host)
        known = self._seen.setdefault(key, {})
        try:
            ran = await self._run(host, FIND, (self._access.folder, str(LOG_BYTES)))
            if ran.code != 0:
                raise DriverUnavailable(f"{host}: {ran.complaint}")
            slots = read_slots(ran.output)
        except DriverUnavailable as error:
            self._problems[key] = str(error)
            return tuple(structs.replace(one, is_silent=True, problem=str(error)) for one in known.values())
        self._problems.pop(key, None)
        self._taken[host] = {one.port for one in slots}
        there = {one.id: self._found(pool, host, one) for one in slots if one.owner == self._owner(pool)}
        gone = [one for id, one in known.items() if id not in there and id not in self._ended]
        self._ended &= there.keys() | {id for other in self._seen.values() for id in other}
        self._seen[key] = there
        return (*there.values(), *(structs.replace(one, is_cancelled=True) for one in gone))

    async def _run(self, host: str, script: str, arguments: Sequence[str], timeout_s: float = TIMEOUT_S) -> Ran:
        async with self._turns:
            words = remote_words(self._access.command, host, arguments)
            try:
                ran = await run_program(words, timeout_s, text=script)
            except DriverUnavailable as error:
                raise DriverUnavailable(f"{host}: {error}") from error
        if ran.code == NO_CONNECTION:
            raise DriverUnavailable(f"{host}: {ran.complaint}")
        return ran

    def _free(self, pool: PlacedPool) -> list[tuple[str, int]]:
        """The first free port of each host that answers, those of the emptiest host first."""
        first = pool.settings.ssh_port_first
        found = []
        for host, slots in pool.settings.ssh_hosts.items():
            if (pool.name, host) in self._problems:
                continue
            taken = self._taken.setdefault(host, set())
            free = [port for port in range(first, first + slots) if port not in taken]
            if free:
                found.append((-len(free), host, free[0]))
        return [(host, port) for _, host, port in sorted(found)]

    def _full(self, pool: PlacedPool) -> str:
        """Why there is no place."""
        slots = pool.settings.ssh_hosts
        away = [self._problems[pool.name, host] for host in slots if (pool.name, host) in self._problems]
        return f"pools.{pool.name}.ssh_hosts: all {sum(slots.values())} places are taken" + (
            f", or their host is away: {'; '.join(away)}" if away else ""
        )

    def _owner(self, pool: PlacedPool) -> str:
        return f"{self._access.namespace}/{pool.name}"

    def _found(self, pool: PlacedPool, host: str, slot: HostSlot) -> CommandReplica:
        return CommandReplica(
            id=slot.id,
            place=f"{host}:{slot.port}",
            host=address_of(host, pool),
            port=slot.port,
            ran_s=slot.age_s,
            problem=None if slot.runs else f"its command has ended; it said last: {slot.said or 'nothing'}",
            is_ended=not slot.runs,
            is_cancelled=slot.is_stopped,
            is_ours=slot.id.startswith(f"{pool.name}-{self._ours}"),
        )


def address_of(host: str, pool: PlacedPool) -> str:
    """What gateways call it by."""
    return pool.settings.ssh_addresses.get(host) or host.rpartition("@")[2]


def _filled(word: str, host: str, port: int, pool: PlacedPool) -> str:
    slot = port - pool.settings.ssh_port_first
    known = {"{port}": str(port), "{host}": address_of(host, pool), "{slot}": str(slot), "{python}": "python3"}
    for name, value in known.items():
        word = word.replace(name, value)
    return word
