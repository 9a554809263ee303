"""Opens the stores of answers and of prompts that workers and gateways keep together."""

import os
from collections.abc import Callable

from blake3 import blake3

from heterodyne.config.settings import Settings
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.gateway.caching.shared_answers import SharedAnswers
from heterodyne.gateway.caching.shared_prompts import SharedPrompts
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.stores.open_store import open_prompts
from heterodyne.stores.redis.answers import RedisAnswers
from heterodyne.telemetry import log

_log = log.get("supervisor")


def try_shared_answers(settings: Settings, stored: StoredRoom, clock: Callable[[], float]) -> SharedAnswers | None:
    """Sealed with the secret of all gateways; None: each worker keeps its own. Raises SettingsInvalid."""
    url = settings.stores.cache_url
    return None if url is None else SharedAnswers(RedisAnswers(url), _secret(settings), stored.works, clock)


def try_shared_prompts(settings: Settings, stored: StoredRoom, clock: Callable[[], float]) -> SharedPrompts | None:
    """Sealed with the same secret; None: each worker keeps its own. Raises StoreInvalid."""
    url = settings.stores.prompts_url
    return None if url is None else SharedPrompts(open_prompts(url), _secret(settings), stored.works, clock)


async def prepare_prompts(url: str | None) -> None:
    """Before workers start: raises StoreInvalid where that database cannot keep prompts. One that is away is a line in
    the log, for it is one of many misses when a worker asks it."""
    if url is None:
        return
    store = open_prompts(url)
    try:
        await store.prepare()
    except StoreUnavailable as error:
        _log.warning("prompts_not_shared", error=error.message, then="replicas are asked until it answers")
    finally:
        await store.close()


def _secret(settings: Settings) -> bytes:
    return blake3(os.environ.get(settings.stores.cache_key_env, "").encode()).digest()
