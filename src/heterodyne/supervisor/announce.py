"""Waits until the gateway itself answers that the models started here are ready, and then prints the banner: the
address, and something to paste."""

import asyncio
import ssl
import sys

import msgspec
from msgspec import Struct, structs

from heterodyne.config.settings import Settings
from heterodyne.domain.errors import Unauthenticated
from heterodyne.domain.local_address import local_url, reachable_host
from heterodyne.fleet.supervised_process import SupervisedProcess
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.wire.address import Address
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import Fetched, get

POLL_INTERVAL_S = 0.05
TIMEOUT_S = 2.0
VARIABLE = "HETERODYNE_API_KEY"
NEEDED = f"every request brings one, here from ${VARIABLE}; `heterodyne keys create` makes one"
NOT_NEEDED = "none needed; once `heterodyne keys create` has made the first, every request needs one"


class _Ready(Struct):
    models: dict[str, str] = {}


async def announce(
    settings: Settings, processes: list[SupervisedProcess], models: set[str], console_url: str | None
) -> None:
    """Print the banner once; models that run elsewhere come and go as they please."""
    for process in processes:
        await process.started.wait()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname = False  # it is our own process; the name is for clients
    tls.verify_mode = ssl.CERT_NONE
    pool = ConnectionPool(asyncio.get_running_loop(), connect_timeout_s=TIMEOUT_S, tls=tls)
    try:
        while not models <= await _ready_models(settings, pool):
            await asyncio.sleep(POLL_INTERVAL_S)
        needs_key = await _needs_key(settings, pool)
    finally:
        await pool.close()
    sys.stdout.write(banner(settings, settings.gateway.port, console_url, needs_key=needs_key) + "\n")
    sys.stdout.flush()


def banner(settings: Settings, port: int, console_url: str | None = None, *, needs_key: bool) -> str:
    """Addresses, curl and Python for the first model that generates text; no console where there is none.

    `needs_key` is what the gateway itself answers: keys are in the settings, and in the database.
    """
    url = gateway_url(structs.replace(settings.gateway, port=port))
    model = next((pool.model for pool in settings.pools.values() if pool.purpose == "generate"), None)
    lines = [f"\nHeterodyne is ready on {url}", f"  models: {', '.join(_models(settings))}"]
    if console_url is not None:
        lines.append(f"  console: {console_url}")
    lines.append(f"  keys: {NEEDED if needs_key else NOT_NEEDED}")
    if model is not None:
        auth = f' -H "Authorization: Bearer ${VARIABLE}"' if needs_key else ""
        key = f'os.environ["{VARIABLE}"]' if needs_key else '"none"'
        lines += [
            "",
            f"  curl {url}/v1/chat/completions -H 'Content-Type: application/json'{auth} \\",
            f"""    -d '{{"model": "{model}", "messages": [{{"role": "user", "content": "Why is the sky blue?"}}]}}'""",
            "",
            *(["  import os"] if needs_key else []),
            "  from openai import OpenAI",
            f'  client = OpenAI(base_url="{url}/v1", api_key={key})',
            '  messages = [{"role": "user", "content": "Why is the sky blue?"}]',
            f'  print(client.chat.completions.create(model="{model}", messages=messages).choices[0].message.content)',
            "",
            '  heterodyne chat "Why is the sky blue?"' + ("" if port == 8080 else f" --url {url}"),
        ]
    return "\n".join([*lines, "", "  Ctrl-C stops it.", ""])


def gateway_url(gateway: GatewaySettings) -> str:
    """As a program on this machine calls it."""
    return local_url("https" if gateway.tls_certificate else "http", gateway.host, gateway.port)


async def _ready_models(settings: Settings, pool: ConnectionPool) -> set[str]:
    answer = await _try_page(settings, pool, "/health/ready")
    if answer is None:
        return set()
    states = msgspec.json.decode(answer.body, type=_Ready).models
    return {name for name, state in states.items() if state == "ready"}


async def _needs_key(settings: Settings, pool: ConnectionPool) -> bool:
    """Asked of the gateway as by a client without a key: keys in the database count as those in the settings do."""
    answer = await _try_page(settings, pool, "/v1/models")
    return answer is not None and answer.status == Unauthenticated.status


async def _try_page(settings: Settings, pool: ConnectionPool, path: str) -> Fetched | None:
    gateway = settings.gateway
    try:
        address = Address(reachable_host(gateway.host), gateway.port, gateway.tls_certificate is not None)
        return await get(pool, address, path, timeout_s=TIMEOUT_S)
    except WireError:
        return None


def _models(settings: Settings) -> list[str]:
    return list(dict.fromkeys(pool.model for pool in settings.pools.values()))
