"""A pool that is followed in a cluster by our own client, and what was found of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from heterodyne.concurrency.deadline import deadline
from heterodyne.fleet.kubernetes.access import ClusterAccess
from heterodyne.fleet.kubernetes.api import KubernetesApi
from heterodyne.fleet.kubernetes.pool_discovery import DiscoveredPool, PoolDiscovery
from heterodyne.fleet.settings import PoolSettings
from heterodyne.wire.address import Address
from tests.support.kubernetes.objects import NAMESPACE
from tests.support.kubernetes.server import ADMIN, KubernetesServer

WAIT_S = 10.0
POLL_S = 0.02


class FollowedPool:
    """What is known of it now."""

    def __init__(self) -> None:
        self.found = DiscoveredPool()

    def take(self, found: DiscoveredPool) -> None:
        self.found = found

    @property
    def ready(self) -> dict[str, str]:
        """Where those are that take work, by id."""
        return {
            one.endpoint.id: f"{one.endpoint.host}:{one.endpoint.port}"
            for one in self.found.replicas or ()
            if one.endpoint.is_ready and not one.endpoint.is_terminating
        }

    @property
    def problems(self) -> dict[str, str]:
        return {one.kind: one.text for one in self.found.problems}

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with deadline(WAIT_S):
            while not is_so():
                await asyncio.sleep(POLL_S)


def api_of(server: KubernetesServer, token: str = ADMIN) -> KubernetesApi:
    access = ClusterAccess(address=Address("127.0.0.1", server.port), namespace=NAMESPACE, token=token)
    return KubernetesApi(lambda: access, call_timeout_s=5.0)


@asynccontextmanager
async def followed(
    server: KubernetesServer, pool: PoolSettings, *, token: str = ADMIN, resync_s: float = 300.0
) -> AsyncIterator[FollowedPool]:
    """As long as it is wanted."""
    one, api = FollowedPool(), api_of(server, token)
    task = asyncio.create_task(PoolDiscovery(api, pool, resync_s=resync_s, on_found=one.take).run())
    try:
        yield one
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await api.close()
