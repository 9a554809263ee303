"""Deletes documents that have expired. For readers they are gone already; this gives their space back."""

import time
from collections.abc import Callable

from heterodyne.ports.document_store import DocumentStore
from heterodyne.telemetry.loops import run_periodically

INTERVAL_S = 60.0
AT_ONCE = 200  # documents in one transaction; workers who write wait for it, and a document may have mebibytes


async def forget_documents(store: DocumentStore, clock: Callable[[], float] = time.time) -> None:
    """Until cancelled."""

    async def forget() -> None:
        await forget_expired(store, clock())

    await run_periodically("documents", forget, INTERVAL_S)


async def forget_expired(store: DocumentStore, now: float) -> int:
    """All that have expired by now; how many."""
    gone = total = await store.forget(now, AT_ONCE)
    while gone == AT_ONCE:
        gone = await store.forget(now, AT_ONCE)
        total += gone
    return total
