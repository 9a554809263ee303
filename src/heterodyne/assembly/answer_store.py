"""Opens the store of answers that workers and gateways keep together."""

import os
from collections.abc import Callable

from blake3 import blake3

from heterodyne.config.settings import Settings
from heterodyne.gateway.caching.shared_answers import SharedAnswers
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.stores.redis.answers import RedisAnswers


def try_shared_answers(settings: Settings, stored: StoredRoom, clock: Callable[[], float]) -> SharedAnswers | None:
    """Sealed with the secret of all gateways; None: each worker keeps its own. Raises SettingsInvalid."""
    url = settings.stores.cache_url
    if url is None:
        return None
    secret = blake3(os.environ.get(settings.stores.cache_key_env, "").encode()).digest()
    return SharedAnswers(RedisAnswers(url), secret, stored.works, clock)
