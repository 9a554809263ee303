"""Whether the ports of gateway and console are free, or held by the gateway of these settings."""

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.cli.doctor.running import is_console, models_served
from heterodyne.config.settings import Settings

TOPIC = "port"
LISTENING = "0A"  # the state column of /proc/net/tcp
RUNS = "the gateway of these settings already runs here"


def ports(settings: Settings) -> Iterator[DoctorFinding]:
    """Tries to listen where the gateway and the console would; a port that is taken is asked what listens there."""
    gateway, console = settings.gateway, settings.console
    is_running = False
    try:
        _try_listen(gateway.host, gateway.port)
    except OSError as error:
        served = models_served(gateway) if error.errno == errno.EADDRINUSE else None
        is_running = served is not None and served == {pool.model for pool in settings.pools.values()}
        yield _refused("gateway", gateway.host, gateway.port, error, is_own=is_running, served=served)
    else:
        yield _free("gateway", gateway.host, gateway.port)
    if not console.listens:
        return
    try:
        _try_listen(console.host, console.port)
    except OSError as error:
        is_own = is_running and is_console(console)
        yield _refused("console", console.host, console.port, error, is_own=is_own)
    else:
        yield _free("console", console.host, console.port)


def holder(port_number: int) -> str | None:
    """The process that listens on a port, as far as /proc shows it."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port_number)}
    if not sockets:
        return None
    for process in Path("/proc").glob("[0-9]*"):
        try:
            holds = any(os.readlink(link) in sockets for link in (process / "fd").iterdir())
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue  # it ended, or belongs to another user
        if holds:
            return f"process {process.name}: {command}"
    return None


def _try_listen(host: str, port_number: int) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host or None, port_number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1)


def _free(section: str, host: str, port_number: int) -> DoctorFinding:
    return DoctorFinding(topic=TOPIC, name=f"{section} {host}:{port_number}", state=FindingState.GOOD, value="free")


def _refused(
    section: str, host: str, port_number: int, error: OSError, *, is_own: bool, served: set[str] | None = None
) -> DoctorFinding:
    name = f"{section} {host}:{port_number}"
    if is_own:
        return DoctorFinding(
            topic=TOPIC, name=name, state=FindingState.NOTE, value=RUNS, advice="`heterodyne fleet status` shows it"
        )
    if error.errno == errno.EADDRINUSE:
        who = holder(port_number)
        value = "taken" + (f" by {who[:100]}" if who else "")
        if served is not None:
            value = f"taken by a gateway that serves {', '.join(sorted(served)) or 'nothing'}" + (
                f" ({who})" if who else ""
            )
        elsewhere = "heterodyne serve --port 9000" if section == "gateway" else "--set console.port=9001"
        advice = f"stop that process, or choose another port: {elsewhere}"
    elif error.errno == errno.EACCES:
        value, advice = "needs a privilege", "choose a port from 1024 up, or grant CAP_NET_BIND_SERVICE"
    else:
        value = f"cannot listen: {error.strerror or error}"
        advice = f"set {section}.host to an address of this machine"
    return DoctorFinding(topic=TOPIC, name=name, state=FindingState.BLOCKER, value=value, advice=advice)


def _listening_inodes(port_number: int) -> set[str]:
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            columns = row.split()
            if columns[3] == LISTENING and int(columns[1].rpartition(":")[2], 16) == port_number:
                inodes.add(columns[9])
    return inodes
