"""The header line that opens an engine to us."""

import os

from heterodyne.domain.fleet import Replica


def key_line(replica: Replica) -> bytes:
    """With the key in the variable that the replica's pool names; empty: it asks for none, or there is none."""
    key = os.environ.get(replica.api_key_env, "") if replica.api_key_env else ""
    return f"authorization: Bearer {key}\r\n".encode() if key else b""
