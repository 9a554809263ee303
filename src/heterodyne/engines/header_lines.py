"""The header lines that every request of ours to a replica has, its key among them."""

import os

from heterodyne.domain.fleet import Replica
from heterodyne.ports.engine_headers import EngineHeaders


def header_lines(replica: Replica, engine: EngineHeaders) -> bytes:
    """With the key in the variable that the replica's pool names; without one it asks for none, or there is none."""
    key = os.environ.get(replica.api_key_env, "") if replica.api_key_env else ""
    return engine.header_lines(key)
