"""Reports of the fleet in Redis or Valkey, for the workers of all gateways: one script, one round trip each turn."""

from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import SettingsInvalid, StoreUnavailable
from heterodyne.ports.fleet_reports import ReportAnswer, ReportCall, ReportEntry
from heterodyne.stores.redis.why_away import why_away

TIMEOUT_S: Final = 0.5  # no request waits for it
PREFIX: Final = "heterodyne:{fleet-1}:"  # the braces keep all keys in one slot of a cluster; 1 is the form of messages
GATEWAYS: Final = "heterodyne:{gateways-1}:"  # of what their supervisors tell each other
TTL_S: Final = 3.0  # of a worker that is not heard of
GOSSIP_BACK_S: Final = 60.0  # what a worker that starts reads first: engines evict what is older
GOSSIP_KEPT: Final = 256  # messages, of 64 KiB at most
GOSSIP_READ: Final = 16  # at once
SENDERS_MAX: Final = 256
BODY_BYTES_MAX: Final = 256 << 10
ANSWER_BYTES_MAX: Final = 4 << 20  # a body that finds no room comes with the next turn

_encode = msgspec.msgpack.Encoder().encode


class RedisReports:
    """`ReportStore` over `redis`, which is an extra of the installation."""

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S, prefix: str = PREFIX) -> None:
        try:
            from redis import asyncio as redis  # noqa: PLC0415  # an extra
            from redis.asyncio.retry import Retry  # noqa: PLC0415
            from redis.backoff import NoBackoff  # noqa: PLC0415
            from redis.exceptions import RedisError  # noqa: PLC0415
        except ImportError as error:
            raise SettingsInvalid(
                "stores.fleet_url: the Redis client is not installed; run `pip install 'heterodyne[redis]'`."
            ) from error
        self._errors = (RedisError, OSError, ValueError)  # an answer of another shape is none
        self._timeout_s = timeout_s
        self._prefix = prefix
        try:
            self._client: Any = redis.Redis.from_url(
                url,
                socket_timeout=timeout_s,
                socket_connect_timeout=timeout_s,
                max_connections=2,
                retry=Retry(NoBackoff(), 0),  # the caller decides when to try again
                decode_responses=False,
            )
        except ValueError as error:
            raise SettingsInvalid(
                "stores.fleet_url: not an address of Redis; try rediss://HOST:6379/0 or unix:///PATH."
            ) from error
        self._script: Any = self._client.register_script(_script())

    async def exchange(self, call: ReportCall) -> ReportAnswer:
        arguments = (
            *(call.sender, call.gateway, call.version, call.body, _encode(call.known), call.gossip_after),
            *(round(TTL_S * 1000), round(GOSSIP_BACK_S * 1000), GOSSIP_KEPT),
            *(SENDERS_MAX, BODY_BYTES_MAX, ANSWER_BYTES_MAX, GOSSIP_READ),
            *call.gossip,
        )
        try:
            async with deadline(self._timeout_s):  # for connecting, loading the script and running it together
                entries, gossip, gossip_to = await self._script(keys=(self._prefix,), args=arguments)
            return ReportAnswer(
                entries=tuple(_entry(*entry) for entry in entries), gossip=tuple(gossip), gossip_to=gossip_to.decode()
            )
        except self._errors as error:
            raise self._away(error) from error

    async def leave(self, sender: str) -> None:
        try:
            async with deadline(self._timeout_s):
                await self._client.zrem(f"{self._prefix}alive", sender)
        except self._errors as error:
            raise self._away(error) from error

    async def close(self) -> None:
        await self._client.aclose()

    async def senders(self) -> int:
        """How many workers report, those that ended in the last seconds included."""
        try:
            async with deadline(self._timeout_s):
                return int(await self._client.zcard(f"{self._prefix}alive"))
        except self._errors as error:
            raise self._away(error) from error

    async def bodies(self) -> dict[str, bytes]:
        """What each of them says, for a person at a terminal: nobody hears of who asks."""
        try:
            async with deadline(self._timeout_s):
                senders = await self._client.zrange(f"{self._prefix}alive", -SENDERS_MAX, -1)
                keys = [b"%breport:%b" % (self._prefix.encode(), sender) for sender in senders]
                bodies = [await self._client.hget(key, "body") for key in keys]
        except self._errors as error:
            raise self._away(error) from error
        return {sender.decode(): body for sender, body in zip(senders, bodies, strict=True) if body}

    def _away(self, error: Exception) -> StoreUnavailable:
        # The client's own words may hold the address, which may hold a password.
        return StoreUnavailable(f"Redis, where gateways leave their reports, does not answer ({why_away(error)}).")


def _entry(sender: bytes, version: bytes, age_ms: bytes, body: bytes | None) -> ReportEntry:
    return ReportEntry(
        sender=sender.decode(), version=int(version), age_s=max(0.0, int(age_ms) / 1000), body=body or None
    )


@cache
def _script() -> str:
    return files("heterodyne.stores.redis").joinpath("reports.lua").read_text(encoding="utf-8")
