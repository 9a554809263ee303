"""Whether the ports of gateway and console are free, and who has them when they are not."""

import errno
import os
import socket
from pathlib import Path

from heterodyne.cli.doctor.finding import Finding, State
from heterodyne.console.settings import ConsoleSettings
from heterodyne.gateway.settings import GatewaySettings

TOPIC = "port"
LISTENING = "0A"  # the state column of /proc/net/tcp


def port(settings: GatewaySettings | ConsoleSettings) -> Finding:
    """Tries to listen where the gateway or the console would."""
    name = f"{settings.host}:{settings.port}"
    try:
        _try_listen(settings.host, settings.port)
    except OSError as error:
        return _refused(name, settings.port, error)
    return Finding(topic=TOPIC, name=name, state=State.GOOD, value="free")


def holder(port_number: int) -> str | None:
    """The process that listens on a port, as far as /proc tells us."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port_number)}
    if not sockets:
        return None
    for process in Path("/proc").glob("[0-9]*"):
        try:
            holds = any(os.readlink(link) in sockets for link in (process / "fd").iterdir())
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue  # it ended, or belongs to somebody else
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


def _refused(name: str, port_number: int, error: OSError) -> Finding:
    if error.errno == errno.EADDRINUSE:
        who = holder(port_number)
        value = "taken" + (f" by {who[:100]}" if who else "")
        if who and _is_ours(who):
            return Finding(topic=TOPIC, name=name, state=State.NOTE, value=value, advice="a gateway already runs here")
        advice = "stop that process, or choose another port: heterodyne serve --port 9000"
    elif error.errno == errno.EACCES:
        value, advice = "needs a privilege", "choose a port from 1024 up, or grant CAP_NET_BIND_SERVICE"
    else:
        value, advice = f"cannot listen: {error.strerror or error}", "set gateway.host to an address of this machine"
    return Finding(topic=TOPIC, name=name, state=State.BLOCKER, value=value, advice=advice)


def _is_ours(command: str) -> bool:
    """Whether one of the words is our program or a module of it; a folder of that name does not count."""
    names = (word.rpartition("/")[2] for word in command.split())
    return any(name.partition(".")[0] == "heterodyne" for name in names)


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
