"""A question of our own to one replica, in as many calls as its dialect takes."""

from heterodyne.control.engine_fetch import post
from heterodyne.domain.errors import EngineRefused
from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Request
from heterodyne.engines.catalogue import ENGINES
from heterodyne.engines.header_lines import header_lines, request_signer
from heterodyne.engines.replica_address import replica_address
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.wire.connection_pool import ConnectionPool

WORDS_SHOWN = 200  # of what it refuses with


async def call_replica(connections: ConnectionPool, replica: Replica, request: Request, *, timeout_s: float) -> bytes:
    """The whole answer; raises an EngineError where there is none."""
    dialect = ENGINES[replica.engine]
    address = replica_address(replica)
    lines, sign = header_lines(replica, dialect), request_signer(replica, dialect)
    answer: bytes | EngineRequest = dialect.call(request, replica)
    while isinstance(answer, EngineRequest):
        headers = lines if sign is None else lines + sign(answer.path, answer.body)
        fetched = await post(connections, address, answer.path, answer.body, timeout_s=timeout_s, headers=headers)
        if fetched.status != 200:
            words = fetched.body[:WORDS_SHOWN].decode(errors="replace")
            raise EngineRefused(f"{replica.id} answers {fetched.status}: {words}", status=fetched.status)
        answer = dialect.answer(request, replica, fetched.body)
    return answer
