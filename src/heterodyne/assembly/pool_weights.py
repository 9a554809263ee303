"""The files that engines started here load: fetched from their source, or an artifact of the registry."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path

from heterodyne.config.settings import Settings
from heterodyne.domain.artifact import Artifact
from heterodyne.ports.blobs import OnBytes
from heterodyne.ports.weights import Progress
from heterodyne.registry.catalog.reference import names_version
from heterodyne.registry.weights import obtain


def pool_weights(settings: Settings, progress: Progress, names: Iterable[str] | None = None) -> dict[str, Path]:
    """Fetch what is missing, by pool, of these or of all. Blocking: outside the event loop, or in a thread."""
    pools = settings.pools if names is None else {name: settings.pools[name] for name in names}
    found, registered = {}, {}
    for name, pool in pools.items():
        if pool.weights is None:
            continue
        if names_version(pool.weights):
            registered[name] = pool.weights
        else:
            found[name] = obtain(pool.weights, pool.weights_sha256, settings.registry, progress)
    return found | asyncio.run(_registered(settings, registered, progress)) if registered else found


async def _registered(settings: Settings, uris: Mapping[str, str], progress: Progress) -> dict[str, Path]:
    """By pool, what its version comes to."""
    # What builds artifacts comes with them: a second that a gateway without a registry need not wait.
    from heterodyne.assembly.catalog import open_catalog  # noqa: PLC0415
    from heterodyne.assembly.pinned import pinned_digests  # noqa: PLC0415
    from heterodyne.assembly.servable import servable_artifact  # noqa: PLC0415
    from heterodyne.registry.catalog.resolve import served_path  # noqa: PLC0415

    registry, found = settings.registry, {}
    async with open_catalog(settings) as catalog:
        pinned = await pinned_digests(settings, catalog)
        for name, uri in uris.items():
            engine, must = settings.pools[name].engine, registry.parity_required
            stored = await servable_artifact(catalog, uri, engine, registry, parity_required=must)
            folder = await catalog.served(stored, _counting(progress, stored.artifact), pinned=pinned)
            found[name] = served_path(folder, stored)
    return found


def _counting(progress: Progress, artifact: Artifact) -> OnBytes:
    """Hears of bytes as they come, and says how many there are."""
    done_bytes = 0

    def hear(more_bytes: int) -> None:
        nonlocal done_bytes
        done_bytes += more_bytes
        progress(artifact.name, done_bytes, artifact.size_bytes)

    return hear
