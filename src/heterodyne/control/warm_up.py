"""What a replica is asked before it counts as ready: kernels are compiled and caches filled before a user waits."""

from heterodyne.control.own_question import try_own_question
from heterodyne.control.replica_call import call_replica
from heterodyne.domain.fleet import Replica
from heterodyne.wire.connection_pool import ConnectionPool

ANSWER_TOKENS = 8
FILLER = "word "  # a token of most vocabularies


async def warm_up(connections: ConnectionPool, replica: Replica) -> None:
    """Ask everything once, one after the other; raises an EngineError for the first that is not answered."""
    wanted = replica.warm_up
    assert wanted is not None
    for text in (*wanted.prompts, *(FILLER * tokens for tokens in wanted.lengths)):
        request = try_own_question(replica, "warm-up", text, tokens=ANSWER_TOKENS)
        if request is not None:
            await call_replica(connections, replica, request, timeout_s=wanted.timeout_s)
