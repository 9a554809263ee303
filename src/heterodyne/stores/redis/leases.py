"""Counters of limits in Redis or Valkey, for gateways on several machines: one script, one round trip for each call."""

import secrets
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import OperatorError, SettingsInvalid, StoreUnavailable
from heterodyne.ports.leases import NO_WINDOW, LeaseAnswer, LeaseCall, LimitCounter
from heterodyne.stores.leases.memory import GRACE_S, HOLDER_TTL_S
from heterodyne.stores.redis.why_away import why_away

TIMEOUT_S = 0.25
CONNECTIONS_MAX = 64  # a worker makes one call at a time; a supervisor one for each of its workers
PREFIX = "heterodyne:{limits}:"  # the braces keep all keys in one slot of a cluster
ANSWER_TTL_S = 86_400  # for how long a call may be sent again; a gateway cut off for longer may be counted twice

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(LeaseAnswer).decode


class RedisLeases:
    """`LeaseKeeper` over `redis`, which is an extra of the installation."""

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = TIMEOUT_S,
        holder_ttl_s: float = HOLDER_TTL_S,
        grace_s: float = GRACE_S,
        prefix: str = PREFIX,
    ) -> None:
        try:
            from redis import asyncio as redis  # noqa: PLC0415  # an extra
            from redis.asyncio.retry import Retry  # noqa: PLC0415
            from redis.backoff import NoBackoff  # noqa: PLC0415
            from redis.exceptions import RedisError  # noqa: PLC0415
        except ImportError as error:
            raise SettingsInvalid(
                "stores.redis_url: the Redis client is not installed; run `pip install 'heterodyne[redis]'`."
            ) from error
        self._errors = (RedisError, OSError, msgspec.DecodeError)
        self._timeout_s = timeout_s
        self._prefix = prefix
        self._settings = (str(round(holder_ttl_s * 1000)), str(round(grace_s)))
        try:
            self._client: Any = redis.Redis.from_url(
                url,
                socket_timeout=timeout_s,
                socket_connect_timeout=timeout_s,
                max_connections=CONNECTIONS_MAX,
                retry=Retry(NoBackoff(), 0),  # the caller decides when to try again
                decode_responses=False,
            )
        except ValueError as error:
            raise _bad_url() from error
        self._script: Any = self._client.register_script(_script())

    async def exchange(self, call: LeaseCall) -> LeaseAnswer:
        arguments = (_encode(call), *self._settings, secrets.token_hex(8), ANSWER_TTL_S)
        try:
            async with deadline(self._timeout_s):  # for connecting, loading the script and running it together
                return _decode(await self._script(keys=(self._prefix,), args=arguments))
        except self._errors as error:
            raise self._away(error) from error

    async def leave(self, holder: str) -> None:
        """Whose name is not among the living runs nothing; its places are dropped when they are next counted."""
        try:
            async with deadline(self._timeout_s):
                await self._client.zrem(f"{self._prefix}alive", holder)
        except self._errors as error:
            raise self._away(error) from error

    async def close(self) -> None:
        await self._client.aclose()

    async def clock_s(self) -> float:
        """Seconds since the epoch, by the server's clock, which windows of limits are counted by."""
        try:
            async with deadline(self._timeout_s):
                seconds, micros = await self._client.time()
        except self._errors as error:
            raise self._away(error) from error
        return float(seconds) + float(micros) / 1_000_000

    async def read(self, counters: Sequence[LimitCounter]) -> tuple[int, ...]:
        """In one round trip; what ran on dead holders is included until the next exchange counts it out."""
        asked = self._client.pipeline(transaction=False)
        for one in counters:
            if one.window == NO_WINDOW:
                asked.hvals(f"{self._prefix}running:{one.name}")
            else:
                asked.get(f"{self._prefix}used:{one.name}:{one.window}")
        try:
            async with deadline(self._timeout_s):
                answers = await asked.execute()
        except self._errors as error:
            raise self._away(error) from error
        return tuple(sum(map(int, one)) if isinstance(one, list) else int(one or 0) for one in answers)

    def _away(self, error: Exception) -> StoreUnavailable:
        # The client's own words may hold the address, which may hold a password.
        return StoreUnavailable(
            f"Redis, which keeps the counters of limits, does not answer ({why_away(error)}); "
            f"it has {self._timeout_s * 1000:.0f} ms. Try again.",
            retry_after_s=1,
        )


@cache
def _script() -> str:
    return files("heterodyne.stores.redis").joinpath("leases.lua").read_text(encoding="utf-8")


def _bad_url() -> OperatorError:
    return SettingsInvalid("stores.redis_url: not an address of Redis; try redis://HOST:6379/0 or unix:///PATH.")
