"""Whether a replica answers at all: one small question, asked of it alone."""

import asyncio

from heterodyne.control.own_question import try_own_question
from heterodyne.control.replica_call import call_replica
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.wire.connection_pool import ConnectionPool

ANSWER_S = 60.0
CONNECT_S = 5.0
ANSWER_TOKENS = 4


async def smoke_problem(replica: Replica) -> str | None:
    """What is wrong with its answer; None: nothing."""
    request = try_own_question(replica, "rollout-smoke", "Say yes.", tokens=ANSWER_TOKENS)
    if request is None:
        return None  # that it is ready is all there is to ask
    connections = ConnectionPool(asyncio.get_running_loop(), idle_max=0, connect_timeout_s=CONNECT_S)
    try:
        await call_replica(connections, replica, request, timeout_s=ANSWER_S)
    except HeterodyneError as error:
        return str(error)
    finally:
        await connections.close()
    return None
