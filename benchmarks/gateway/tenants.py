"""A store with a tenant for the gateway under load: one of its keys is that which the load brings, limits are wide."""

import asyncio
from hashlib import sha256
from pathlib import Path

from heterodyne.domain.tenant import Limits
from heterodyne.ports.tenant_changes import KeyDraft, OrganisationDraft, ProjectDraft
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.tenants import SqliteTenants

SECRET = b"sk-benchmark"  # as in the requests of every scenario
WHO = "benchmark"
WIDE = Limits(requests_per_minute=10**9, tokens_per_minute=10**12, concurrent_requests=10**6, usd_per_month=1e9)


def make_store(path: Path, keys: int = 1) -> None:
    """An organisation, a project and so many keys, all of them limited."""
    asyncio.run(_make(path, keys))


async def _make(path: Path, keys: int) -> None:
    database = await SqliteDatabase.open(path)
    try:
        tenants = SqliteTenants(database)
        await tenants.create_organisation(OrganisationDraft(id="bench", limits=WIDE), who=WHO)
        await tenants.create_project(ProjectDraft(id="bench/load", limits=WIDE), who=WHO)
        for _ in range(keys - 1):
            await tenants.create_key(KeyDraft(project="bench/load", limits=WIDE), who=WHO)
        issued = await tenants.create_key(KeyDraft(project="bench/load", limits=WIDE), who=WHO)
        digest = sha256(SECRET).hexdigest()  # secrets are drawn at random; the load has one of its own
        await database.write(
            lambda connection: (
                connection.execute("UPDATE keys SET secret_sha256 = ? WHERE id = ?", (digest, issued.key.id)).rowcount
            )
        )
    finally:
        await database.close()
