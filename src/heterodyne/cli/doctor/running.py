"""Asks whoever holds our ports whether it is a gateway: names of processes prove nothing, an emulator has ours too."""

import http.client
import ssl

import msgspec
from msgspec import Struct

from heterodyne.console.settings import ConsoleSettings
from heterodyne.domain.local_address import reachable_host
from heterodyne.gateway.settings import GatewaySettings

TIMEOUT_S = 2.0


class _Ready(Struct):
    status: str
    models: dict[str, str]


class _Health(Struct):
    status: str


def models_served(gateway: GatewaySettings) -> set[str] | None:
    """The models of the gateway that listens there; None where it is none."""
    connection = _connection(gateway.host, gateway.port, is_tls=gateway.tls_certificate is not None)
    page = _try_page(connection, "/health/ready")
    try:
        return None if page is None else set(msgspec.json.decode(page, type=_Ready).models)
    except msgspec.DecodeError:
        return None


def is_console(console: ConsoleSettings) -> bool:
    """Whether an admin API listens there."""
    page = _try_page(_connection(console.host, console.port, is_tls=False), "/health")
    try:
        return page is not None and msgspec.json.decode(page, type=_Health).status == "ok"
    except msgspec.DecodeError:
        return False


def _connection(host: str, port: int, *, is_tls: bool) -> http.client.HTTPConnection:
    host = reachable_host(host)
    if not is_tls:
        return http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname = False  # the name is for clients; here only the answer counts
    tls.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=tls)


def _try_page(connection: http.client.HTTPConnection, path: str) -> bytes | None:
    try:
        connection.request("GET", path)
        return connection.getresponse().read(1 << 20)
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
