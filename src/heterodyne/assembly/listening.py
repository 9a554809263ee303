"""Why an engine of ours cannot listen where it was told to."""

import errno
import os

from heterodyne.supervisor.listen_address import holder_of


def cannot_listen(host: str, port: int, error: OSError) -> str:
    """In our words: asyncio's repeat the address as a tuple."""
    if error.errno == errno.EADDRINUSE:
        return f"{host}:{port} is in use{holder_of(port)}; choose another with --port, or a free one with --port 0"
    if error.errno == errno.EACCES:
        return f"{host}:{port} needs privileges; choose a port from 1024 up with --port"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine; choose another with --host"
    return f"{host}:{port}: cannot listen: {os.strerror(error.errno) if error.errno else error}"
