"""The fleet that is overrun: two kinds of emulated hardware behind `heterodyne serve`, and a tenant of each tier."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import uvloop
from msgspec import Struct

from benchmarks.emulated_fleet import EmulatedFleet, emulated_fleet
from heterodyne.domain.urgency import Tier
from heterodyne.physics.serving import Slo
from heterodyne.ports.tenant_changes import KeyDraft, OrganisationDraft, ProjectDraft
from heterodyne.stores.open_store import open_database, tenants_in

MODEL = "llama-3.1-8b"
CONTEXT_TOKENS = 8192
WHO = "benchmark"


class EmulatedPool(Struct, frozen=True, kw_only=True):
    """One replica."""

    hardware: str
    precision: str
    slots: int  # so few that a small machine can emulate them all taken

    @property
    def arguments(self) -> tuple[str, ...]:
        """Of its emulator."""
        return (
            *("--hardware", self.hardware, "--model", MODEL, "--precision", self.precision),
            *("--slots", str(self.slots), "--context", str(CONTEXT_TOKENS)),
        )


POOLS = {
    "h100": EmulatedPool(hardware="h100-sxm", precision="bf16", slots=16),
    "l4": EmulatedPool(hardware="l4", precision="fp8", slots=16),
}


Keys = Mapping[Tier, str]  # the secrets that each tier asks with


@contextmanager
def overload_fleet(folder: Path, slo: Slo, *, tells_slots: bool = True) -> Iterator[tuple[EmulatedFleet, Keys]]:
    """All of it, ready; what still runs is ended with the block."""
    database = folder / "heterodyne.db"
    keys = uvloop.run(_make_tenants(f"sqlite:{database}"))
    arguments = {name: pool.arguments for name, pool in POOLS.items()}
    settings = partial(_settings, slo=slo, database=database, tells_slots=tells_slots)
    with emulated_fleet(folder, arguments, settings) as fleet:
        yield fleet, keys


async def _make_tenants(url: str) -> dict[Tier, str]:
    """A project of each tier; the secrets of their keys."""
    database = await open_database(url, os.environ)
    try:
        tenants = tenants_in(database)
        await tenants.create_organisation(OrganisationDraft(id="acme"), who=WHO)
        secrets = {}
        for tier in Tier:
            await tenants.create_project(ProjectDraft(id=f"acme/{tier.value}", tier=tier), who=WHO)
            secrets[tier] = (await tenants.create_key(KeyDraft(project=f"acme/{tier.value}"), who=WHO)).secret
        return secrets
    finally:
        await database.close()


def _settings(urls: Mapping[str, str], *, slo: Slo, database: Path, tells_slots: bool) -> str:
    """The gateway's settings file; all that is not said here is as it comes."""
    parts = [f'[stores]\nurl = "sqlite:{database}"\n']
    for name, pool in POOLS.items():
        parts.append(
            f'[pools.{name}]\nmodel = "{MODEL}"\nengine = "vllm"\nurls = ["{urls[name]}"]\n'
            f'hardware = "{pool.hardware}"\nprecision = "{pool.precision}"\ncontext_tokens = {CONTEXT_TOKENS}\n'
            + (f"in_flight_max = {pool.slots}\n" if tells_slots else "")
        )
    parts.append(f'[models."{MODEL}"]\nslo_ttft_ms = {1000 * slo.ttft_s:g}\nslo_itl_ms = {1000 * slo.itl_s:g}\n')
    return "\n".join(parts)
