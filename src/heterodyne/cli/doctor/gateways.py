"""Whether gateways that share a fleet share a database, too: each database has a leader of its own, so two are one
too many. Without one database they agree on no reload, and each thinks that it leads."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.config.settings import Settings
from heterodyne.domain.counted import counted
from heterodyne.domain.errors import HeterodyneError
from heterodyne.stores.probe import REDIS_TIMEOUT_S
from heterodyne.stores.read_only import read_rows
from heterodyne.stores.redis.reports import GATEWAYS, RedisReports
from heterodyne.supervisor.gateways.gateway_report import GatewayReport, decode
from heterodyne.supervisor.leader.lease_rule import LeaderLease

TOPIC: Final = "stores"
NAME: Final = "gateways"
LEASE: Final = "SELECT body FROM documents WHERE id = 'leader'"
ADVICE: Final = "give all of them the same stores.url; until then none of their reloads is agreed on"


def gateways(settings: Settings) -> Iterator[DoctorFinding]:
    """Nothing where none reports; that their store is away is said by its own line."""
    if settings.stores.fleet_url is not None:
        try:
            reports = asyncio.run(_reports(settings.stores.fleet_url))
        except HeterodyneError:
            return
        if reports:
            yield judged(reports, asyncio.run(_try_holder(settings.stores.url)))


def judged(reports: Mapping[str, GatewayReport], holder: str | None) -> DoctorFinding:
    """By sender; `holder` leads by the database of these settings, None: nobody is known to."""
    leaders = {sender: one.gateway for sender, one in reports.items() if one.term is not None}
    names, heard = ", ".join(sorted(leaders.values())), f"{counted(len(reports), 'gateway')} heard of"
    state, value = FindingState.WARNING, ""
    if not leaders:
        state = FindingState.NOTE
        value = f"{heard}, and none leads now: whether they share a database cannot be told"
    elif len(leaders) > 1:
        value = f"{heard}, and {names} lead at once: each in a database of its own"
    elif holder in leaders:
        state, value = FindingState.GOOD, f"{heard}; they share the database of stores.url, where {names} leads"
    else:
        value = f"{heard}, and {names} leads in another database than stores.url here"
    advice = ADVICE if state is FindingState.WARNING else None
    return DoctorFinding(topic=TOPIC, name=NAME, state=state, value=value, advice=advice)


async def _reports(url: str) -> dict[str, GatewayReport]:
    store = RedisReports(url, timeout_s=REDIS_TIMEOUT_S, prefix=GATEWAYS)
    try:
        bodies = await store.bodies()
    finally:
        await store.close()
    found = {}
    for sender, body in bodies.items():
        try:
            found[sender] = decode(body)
        except ValueError:
            continue  # of somebody who is no gateway, or of another form
    return found


async def _try_holder(url: str) -> str | None:
    found = await read_rows(url, os.environ, LEASE)
    if not found or not found[0]:
        return None
    try:
        return msgspec.json.decode(bytes(found[0][0][0]), type=LeaderLease).holder
    except msgspec.MsgspecError:
        return None
