"""Whether what must survive can be written down: the state folder and its disk, the database, the shared counters."""

import asyncio
import os
from collections.abc import Awaitable, Iterator

from heterodyne.audit.settings import folder_of
from heterodyne.books.settings import spool_folder_of
from heterodyne.cli.doctor.clock import skew
from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.cli.doctor.folder import folder_finding
from heterodyne.config.settings import Settings
from heterodyne.domain.errors import HeterodyneError
from heterodyne.stores.open_store import state_folder
from heterodyne.stores.probe import StoreStatus, probe_database, probe_prompts, probe_redis, probe_reports

TOPIC = "stores"
ELSEWHERE = "set XDG_STATE_HOME, or the folder's own setting, to a folder that can"
WHEN_LITTLE = "make room: what is billed or audited is refused when it cannot be written"


def stores(settings: Settings) -> Iterator[DoctorFinding]:
    """The folders, then the stores that gateways share."""
    state = state_folder(os.environ)
    folders = {"state folder": state}
    if settings.books.is_on:
        folders["spool"] = spool_folder_of(settings.books, state)
    if settings.audit.is_on:
        folders["audit log"] = folder_of(settings.audit, state)
    yield from (
        folder_finding(TOPIC, name, folder, elsewhere=ELSEWHERE, when_little=WHEN_LITTLE)
        for name, folder in folders.items()
    )
    yield from _store("database", probe_database(settings.stores.url, os.environ), "repair or change stores.url")
    if settings.stores.redis_url is not None:
        yield from _store("redis", probe_redis(settings.stores.redis_url), "start it, or change stores.redis_url")
    if settings.stores.fleet_url is not None:
        advice = "start it, or change stores.fleet_url; until then gateways go by what each sees itself"
        yield from _store("fleet reports", probe_reports(settings.stores.fleet_url), advice, FindingState.WARNING)
    if settings.stores.prompts_url is not None:
        yield from _store("prompts", probe_prompts(settings.stores.prompts_url), "repair or change stores.prompts_url")


def _store(
    name: str, look: Awaitable[StoreStatus], advice: str, away: FindingState = FindingState.BLOCKER
) -> Iterator[DoctorFinding]:
    """`away` is what it means where it does not answer."""

    async def looked() -> StoreStatus:
        return await look

    try:
        seen = asyncio.run(looked())
    except HeterodyneError as error:
        yield DoctorFinding(topic=TOPIC, name=name, state=away, value=error.message, advice=advice)
        return
    yield DoctorFinding(topic=TOPIC, name=name, state=FindingState.GOOD, value=seen.words)
    if seen.clock_s is not None:
        yield from skew(TOPIC, name, seen.clock_s)
