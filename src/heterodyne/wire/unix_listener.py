"""A unix socket that only its owner can connect to."""

import socket
from pathlib import Path

OWNER_ONLY = 0o600


def bound(path: Path) -> socket.socket:
    """Nobody can connect before it listens, and by then it is its owner's alone."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(OWNER_ONLY)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener
