"""Pure: where a pool's provider key may be sent. Who may change a fleet may not have its keys sent to himself.

The settings alone say it: the origins of the pool's own URLs, and those it lists besides.
"""

from urllib.parse import urlsplit

from heterodyne.console.errors import ChangeRefused
from heterodyne.fleet.settings import PoolSettings

PORTS = {"http": 80, "https": 443}

Origin = tuple[str, str, int]


def check_key_origin(name: str, pool: PoolSettings, url: str) -> None:
    """Raise where a replica at `url` would be sent a key that is not for it."""
    if pool.api_key_env is None:
        return
    declared = {origin(one) for one in (*pool.urls, *pool.api_key_origins)}
    if origin(url) in declared:
        return
    known = ", ".join(sorted(map(_spelt, declared))) or "no origin yet"
    raise ChangeRefused(
        f"The key of pool {name} ({pool.api_key_env}) is for {known}, and {_spelt(origin(url))} is another. Add it "
        f"without the key (`--without-key`), or list it in pools.{name}.api_key_origins, or in its urls, and reload."
    )


def origin(url: str) -> Origin:
    """Scheme, host and port, as settings that were checked spell them."""
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or PORTS.get(parts.scheme, 0)


def _spelt(one: Origin) -> str:
    scheme, host, port = one
    named = f"[{host}]" if ":" in host else host
    return f"{scheme}://{named}" if PORTS.get(scheme) == port else f"{scheme}://{named}:{port}"
