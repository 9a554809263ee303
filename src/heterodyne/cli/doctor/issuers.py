"""Whether each issuer of tokens answers, is who the settings say, and tells keys that we can read."""

import asyncio
from collections.abc import Iterator

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.config.fields import dotted
from heterodyne.config.settings import Settings
from heterodyne.domain.counted import counted
from heterodyne.identity.discovery import IssuerPlace, IssuerSilent, discover, fetch_document
from heterodyne.identity.key_set import read_key_set
from heterodyne.wire.connection_pool import ConnectionPool

TOPIC = "issuers"
ADVICE = "correct the URL, or name whoever vouches for it in tls_authorities; keys of ours open as ever"


def issuers(settings: Settings) -> list[DoctorFinding]:
    """One for each, asked at once; settings without any have none."""
    named = dict(_named(settings))
    return asyncio.run(_look_at_all(named)) if named else []


def _named(settings: Settings) -> Iterator[tuple[str, IssuerPlace]]:
    for name, issuer in settings.issuers.items():
        yield dotted("issuers", name), IssuerPlace(url=issuer.issuer_url, tls_authorities=issuer.tls_authorities)
    sign_in = settings.sign_in
    if sign_in.issuer_url is not None:
        yield "sign_in", IssuerPlace(url=sign_in.issuer_url, tls_authorities=sign_in.tls_authorities)


async def _look_at_all(named: dict[str, IssuerPlace]) -> list[DoctorFinding]:
    pool = ConnectionPool(asyncio.get_running_loop(), idle_max=0)
    try:
        return list(await asyncio.gather(*(_look(pool, *one) for one in named.items())))
    finally:
        await pool.close()


async def _look(pool: ConnectionPool, setting: str, place: IssuerPlace) -> DoctorFinding:
    try:
        documents = await discover(pool, place)
        keys = read_key_set(await fetch_document(pool, place, documents.jwks_uri))
    except (IssuerSilent, ValueError) as error:
        return DoctorFinding(
            topic=TOPIC, name=setting, state=FindingState.WARNING, value=f"{place.url}: {error}", advice=ADVICE
        )
    value = f"{place.url} tells {counted(len(keys), 'key')}"
    return DoctorFinding(topic=TOPIC, name=setting, state=FindingState.GOOD, value=value)
