"""Opens a worker's endpoint picker where the settings want one; what it takes is an extra, imported only then."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from heterodyne.assembly.request_path import RequestPath
from heterodyne.gateway.lease_client import LeaseClient
from heterodyne.gateway.request_handler import RequestHandler
from heterodyne.supervisor.workers.live_gateway import LiveGateway
from heterodyne.telemetry.loops import keep_running


@asynccontextmanager
async def picking(
    gateway: LiveGateway,
    path: RequestPath,
    lease_client: LeaseClient,
    handler: RequestHandler,
) -> AsyncIterator[None]:
    """Proxies may ask inside the block."""
    if not gateway.settings.endpoint_picker.listens:
        yield
        return
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")  # no child of ours goes on with it
    from heterodyne.assembly.endpoint_picker import build_picker  # noqa: PLC0415  # an extra

    picker = build_picker(gateway, path, lease_client, handler)
    await picker.server.open()
    gateway.endpoint_picker_port = picker.server.port
    turns = asyncio.create_task(keep_running("endpoint picker", picker.gate.run))
    try:
        yield
    finally:
        turns.cancel()
        picker.gate.close()
        await picker.server.close()
