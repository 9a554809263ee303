"""Claims the ports of gateway, endpoint picker and console for the supervisor's lifetime, or says who has them."""

import errno
import socket
from pathlib import Path

from heterodyne.domain.errors import PortInUse, SettingsInvalid


def claim(host: str, port: int, section: str = "gateway") -> socket.socket:
    """A bound socket that never listens: it holds the number while workers share the port."""
    elsewhere = "--port, or HETERODYNE_GATEWAY__PORT" if section == "gateway" else f"HETERODYNE_{section.upper()}__PORT"
    # Bound once without sharing: with it, a second gateway would silently take half of the connections.
    with _bind(host, port, section, elsewhere) as probe:
        family, (name, _, *scope) = probe.family, probe.getsockname()
    holder = socket.socket(family)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    holder.bind((name, port, *scope))
    return holder


def claim_alone(host: str, port: int) -> socket.socket:
    """A bound socket for the one process that will listen on it."""
    return _bind(host, port, "console", "HETERODYNE_CONSOLE__PORT")


def _bind(host: str, port: int, section: str, elsewhere: str) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise SettingsInvalid(f"{section}.host: {host!r} is no address: {error.strerror}") from error
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
    except PermissionError as error:
        bound.close()
        raise PortInUse(f"{host}:{port} needs privileges; choose another `{section}.port` ({elsewhere}).") from error
    except OSError as error:
        bound.close()
        if error.errno != errno.EADDRINUSE:
            raise SettingsInvalid(f"{section}.host: cannot listen on {host}:{port}: {error.strerror}") from error
        holder = holder_of(port)
        raise PortInUse(f"{host}:{port} is in use{holder}. Change `{section}.port` ({elsewhere}).") from error
    return bound


def holder_of(port: int) -> str:
    """` by process 123 (name)`, where the system shows it."""
    inodes = _listening_inodes(port)
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if any(_target(link) in inodes for link in (entry / "fd").iterdir()):
                return f" by process {entry.name} ({(entry / 'comm').read_text().strip()})"
        except OSError:
            continue  # gone meanwhile, or another user's
    return ""


def _target(link: Path) -> str:
    """What an open file is, or nothing when it has been closed meanwhile."""
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return ""


def _listening_inodes(port: int) -> set[str]:
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        path = Path(table)
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            fields = line.split()
            if int(fields[1].rpartition(":")[2], 16) == port and fields[3] == "0A":
                inodes.add(f"socket:[{fields[9]}]")
    return inodes
