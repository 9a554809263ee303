"""Which setting a replica comes from, for messages to operators."""

from urllib.parse import urlsplit

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import Replica


def setting_path(settings: Settings, replica: Replica) -> str:
    """The URL's place in the file; the pool's where the replica was started here or added while running."""
    pool = settings.pools.get(replica.pool)
    for index, url in enumerate(pool.urls if pool is not None else ()):
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        # Ids outlive the places in the list that they were made from, so the address decides.
        if (parts.hostname, port, parts.path.rstrip("/")) == (replica.host, replica.port, replica.base_path):
            return f"pools.{replica.pool}.urls[{index}]"
    return f"pools.{replica.pool}"
