"""Whether those who are held to regions lose something by where content rests here, each place by its setting."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.config.fields import KV_STORES, dotted
from heterodyne.config.settings import Settings
from heterodyne.domain.counted import counted
from heterodyne.domain.residency import may_rest
from heterodyne.stores.held_tenants import HeldTenant, held_tenants

TOPIC: Final = "residency"
NAMED_MAX: Final = 3  # of those that lose something


class ContentPlace(NamedTuple):
    """Where content rests."""

    setting: str
    regions: Sequence[str]
    lost: str  # what those have not who may not rest there
    advice: str = "give them a gateway whose stores are in their regions"


def residency(settings: Settings) -> Iterator[DoctorFinding]:
    """Nothing where nobody is held to regions."""
    tenants = asyncio.run(held_tenants(settings.stores.url, os.environ))
    if tenants:
        for place in content_places(settings):
            yield _finding(place, tenants)


def content_places(settings: Settings) -> Iterator[ContentPlace]:
    """All that this gateway has."""
    stores = settings.stores
    yield ContentPlace("stores.regions", stores.regions, "have no response, conversation, file or batch kept")
    yield ContentPlace("gateway.files_regions", settings.gateway.files_regions, "can send no file and have no batch")
    if settings.audit.is_on:
        yield ContentPlace("audit.regions", settings.audit.regions, "are audited by hashes alone")
    if stores.cache_url is not None or stores.prompts_url is not None:
        regions = () if stores.cache_region is None else (stores.cache_region,)
        yield ContentPlace("stores.cache_region", regions, "share no answers, and have each worker's own")
    for name, store in settings.kv_stores.items():
        pools = [pool for pool, one in settings.pools.items() if one.kv_store == name]
        if pools:
            lost = f"are not answered by {counted(len(pools), 'pool')}: {', '.join(pools)}"
            advice = "give them pools whose KV is kept in their regions"
            yield ContentPlace(dotted(KV_STORES, name, "regions"), store.regions, lost, advice)


def _finding(place: ContentPlace, tenants: Sequence[HeldTenant]) -> DoctorFinding:
    if not place.regions:
        return DoctorFinding(
            topic=TOPIC,
            name=place.setting,
            state=FindingState.NOTE,
            value=f"not said, so it counts as where this gateway is; {counted(len(tenants), 'tenant')} held to regions",
        )
    out = [one for one in tenants if not may_rest(one.regions, place.regions)]
    where = ", ".join(place.regions)
    if not out:
        return DoctorFinding(topic=TOPIC, name=place.setting, state=FindingState.GOOD, value=f"{where}, for all")
    named = ", ".join(f"{one.name} ({', '.join(sorted(one.regions)) or 'none'})" for one in out[:NAMED_MAX])
    more = f" and {len(out) - NAMED_MAX} more" if len(out) > NAMED_MAX else ""
    return DoctorFinding(
        topic=TOPIC,
        name=place.setting,
        state=FindingState.WARNING,
        value=f"{where}; {named}{more} {place.lost}",
        advice=place.advice,
    )
