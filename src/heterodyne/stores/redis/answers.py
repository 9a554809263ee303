"""Kept answers in Redis or Valkey, for all workers and gateways: one round trip for each call."""

from typing import Any, Final

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import SettingsInvalid, StoreUnavailable
from heterodyne.stores.redis.why_away import why_away

TIMEOUT_S: Final = 0.1  # a replica is asked instead
CONNECTIONS_MAX: Final = 64
PREFIX: Final = b"heterodyne:answer:"


class RedisAnswers:
    """`AnswerStore` over `redis`, which is an extra of the installation."""

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S) -> None:
        try:
            from redis import asyncio as redis  # noqa: PLC0415  # an extra
            from redis.asyncio.retry import Retry  # noqa: PLC0415
            from redis.backoff import NoBackoff  # noqa: PLC0415
            from redis.exceptions import RedisError  # noqa: PLC0415
        except ImportError as error:
            raise SettingsInvalid(
                "stores.cache_url: the Redis client is not installed; run `pip install 'heterodyne[redis]'`."
            ) from error
        self._errors = (RedisError, OSError)
        self._timeout_s = timeout_s
        try:
            self._client: Any = redis.Redis.from_url(
                url,
                socket_timeout=timeout_s,
                socket_connect_timeout=timeout_s,
                max_connections=CONNECTIONS_MAX,
                retry=Retry(NoBackoff(), 0),
                decode_responses=False,
            )
        except ValueError as error:
            raise SettingsInvalid(
                "stores.cache_url: not an address of Redis; try redis://HOST:6379/0 or unix:///PATH."
            ) from error

    async def try_get(self, key: bytes) -> bytes | None:
        try:
            async with deadline(self._timeout_s):
                found: bytes | None = await self._client.get(PREFIX + key)
        except self._errors as error:
            raise self._away(error) from error
        return found

    async def put(self, key: bytes, value: bytes, ttl_s: float) -> None:
        try:
            async with deadline(self._timeout_s):
                await self._client.set(PREFIX + key, value, px=max(1, round(ttl_s * 1000)))
        except self._errors as error:
            raise self._away(error) from error

    async def close(self) -> None:
        await self._client.aclose()

    def _away(self, error: Exception) -> StoreUnavailable:
        # The client's own words may hold the address, which may hold a password.
        return StoreUnavailable(f"Redis, which keeps answers, does not answer ({why_away(error)}).")
