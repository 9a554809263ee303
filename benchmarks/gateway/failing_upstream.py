"""Two mock replicas, of which the second fails its requests: failing_upstream.py PORT FAILING_PORT FAILURE.

Both answer GETs, so that they look healthy, and both take their time before an answer, as a prefill does.
"""

import asyncio
import sys
from enum import StrEnum
from functools import partial

import uvloop

from benchmarks.gateway.upstream import Engine

PREFILL_S = 0.02
REFUSES_S = 0.5  # and then answers for as long: shorter than it takes a watch to notice


class Failure(StrEnum):
    """How a first attempt goes wrong."""

    REFUSED = "refused"  # nobody listens
    RESET = "reset"  # the connection is taken, and reset as soon as the request is there
    DIES = "dies"  # reset where the answer would have begun: a whole prefill is lost


class Replica(Engine):
    """A connection to a mock engine with a prefill."""

    def __init__(self, connections: set["Replica"], failure: Failure | None = None) -> None:
        self.connections = connections  # to the same replica
        self.failure = failure

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self.connections.discard(self)

    def on_message_complete(self) -> None:
        if self.parser.get_method() == b"GET":
            self.answer()
        elif self.failure is Failure.RESET:
            self.transport.abort()
        else:
            end = self.transport.abort if self.failure is Failure.DIES else self.answer
            asyncio.get_running_loop().call_later(PREFILL_S, end)

    def answer(self) -> None:
        if not self.transport.is_closing():
            super().on_message_complete()


async def serve(port: int, failing_port: int, failure: Failure) -> None:
    """Listen on loopback until ended."""
    connections: set[Replica] = set()
    listen = partial(asyncio.get_running_loop().create_server, host="127.0.0.1", backlog=1024)
    async with await listen(partial(Replica, set()), port=port):
        while True:
            async with await listen(partial(Replica, connections, failure), port=failing_port):
                await (asyncio.sleep(REFUSES_S) if failure is Failure.REFUSED else asyncio.Event().wait())
            for connection in tuple(connections):
                connection.transport.abort()
            await asyncio.sleep(REFUSES_S)


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2]), Failure(sys.argv[3])))
