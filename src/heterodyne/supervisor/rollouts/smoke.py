"""Whether a replica answers at all: one small question, asked of it alone."""

import asyncio

import msgspec

from heterodyne.control.replica_call import call_replica
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Purpose, Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.wire.connection_pool import ConnectionPool

ANSWER_S = 60.0
CONNECT_S = 5.0
QUESTION = {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 4, "temperature": 0}


async def smoke_problem(replica: Replica) -> str | None:
    """What is wrong with its answer; None: nothing."""
    if replica.purpose is Purpose.EMBED:
        body, operation = msgspec.json.encode({"model": replica.model, "input": "yes"}), Operation.EMBEDDING
    elif replica.purpose is Purpose.INFER:
        return None  # which tensors it takes nobody here knows; that it is ready is all there is to ask
    else:
        body, operation = msgspec.json.encode({"model": replica.model, **QUESTION}), Operation.CHAT
    request = Request(id="rollout-smoke", operation=operation, model=replica.model, body=body)
    connections = ConnectionPool(asyncio.get_running_loop(), idle_max=0, connect_timeout_s=CONNECT_S)
    try:
        await call_replica(connections, replica, request, timeout_s=ANSWER_S)
    except HeterodyneError as error:
        return str(error)
    finally:
        await connections.close()
    return None
