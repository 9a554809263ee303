"""What every request of ours to a replica has in its head: its key, or what signs it in place of one."""

import os

from heterodyne.domain.fleet import Replica
from heterodyne.engines.replica_address import replica_address
from heterodyne.ports.engine_headers import EngineHeaders, Signer


def header_lines(replica: Replica, engine: EngineHeaders) -> bytes:
    """With the key in the variable that the replica's pool names; without one it asks for none, or there is none."""
    variable = replica.api_key_env
    if not variable or request_signer(replica, engine) is not None:
        return engine.header_lines("")
    return engine.header_lines(os.environ.get(variable, ""))


def request_signer(replica: Replica, engine: EngineHeaders) -> Signer | None:
    """What signs each request to it; None, for nearly all: nothing does."""
    if not replica.api_key_env:
        return None
    authority = replica_address(replica).authority
    return engine.signer(authority, replica.api_key_env, os.environ)
