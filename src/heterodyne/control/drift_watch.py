"""Asks every replica the same few questions now and then, and notices when its answers move.

A driver update, a card that computes wrong or weights that were swapped under a URL show in no health page. At
temperature 0 the log-probabilities of a replica stay within rounding; its first answers are what later ones are held
against. Only tokens up to the first that differs are compared, for behind it the two go on from different texts.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.control.replica_call import call_replica
from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.fleet import Purpose, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.parity.compare import named_kl
from heterodyne.parity.scored_token import ScoredToken
from heterodyne.telemetry import log
from heterodyne.wire.connection_pool import ConnectionPool

PROMPTS = (
    "Count from one to ten in words.",
    "Name the four seasons of the year.",
    "Write a function in Python that adds two numbers.",
    "What is the capital of France?",
)
TOKENS, TOP = 16, 5  # of an answer, and of each place in it
ANSWER_S, CONNECT_S = 60.0, 5.0
OFF_S = 10.0  # between looks whether it has been turned on
AT_ONCE = 4  # replicas

_log = log.get("control")

Answers = tuple[tuple[ScoredToken, ...], ...]  # by prompt
Identity = tuple[object, ...]


class DriftSeen(Struct, frozen=True, kw_only=True):
    """One replica, as it was asked last."""

    replica: str
    pool: str
    kl_nats: float | None  # how far its answers are from its first ones, on average of a token; None: see `problem`
    problem: str = ""


class DriftWatch:
    """One per supervisor. `interval_s` gives the setting of the moment; nothing is asked while it is None."""

    def __init__(
        self,
        replicas: Callable[[], Sequence[Replica]],
        ready: Callable[[], set[ReplicaId]],
        interval_s: Callable[[], float | None],
    ) -> None:
        self._replicas = replicas
        self._ready = ready
        self._interval_s = interval_s
        self._first: dict[ReplicaId, tuple[Identity, Answers]] = {}
        self._seen: dict[ReplicaId, DriftSeen] = {}

    def snapshot(self) -> tuple[DriftSeen, ...]:
        """What was found last."""
        return tuple(self._seen.values())

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            interval_s = self._interval_s()
            if interval_s is None:
                self._first, self._seen = {}, {}
                await asyncio.sleep(OFF_S)
                continue
            await self.look()
            await asyncio.sleep(interval_s)

    async def look(self) -> None:
        """Ask all that are ready; what is drained begins anew when it comes back."""
        ready = self._ready()
        asked = [one for one in self._replicas() if one.purpose in (None, Purpose.GENERATE) and not one.is_draining]
        known = {one.id for one in asked}
        self._first = {id: first for id, first in self._first.items() if id in known}
        self._seen = {id: seen for id, seen in self._seen.items() if id in known}
        connections = ConnectionPool(asyncio.get_running_loop(), idle_max=1, connect_timeout_s=CONNECT_S)
        turns = asyncio.Semaphore(AT_ONCE)
        try:
            async with asyncio.TaskGroup() as group:
                for replica in asked:
                    if replica.id in ready:
                        group.create_task(self._look_at(connections, replica, turns))
        finally:
            await connections.close()

    async def _look_at(self, connections: ConnectionPool, replica: Replica, turns: asyncio.Semaphore) -> None:
        async with turns:
            try:
                answers = tuple([await _asked(connections, replica, prompt) for prompt in PROMPTS])
            except HeterodyneError as error:
                self._note(DriftSeen(replica=replica.id, pool=replica.pool, kl_nats=None, problem=str(error)))
                return
        identity = (replica.pool, replica.host, replica.port, replica.base_path, replica.engine_model, replica.version)
        first = self._first.get(replica.id)
        if first is None or first[0] != identity:
            first = self._first[replica.id] = identity, answers
        self._note(DriftSeen(replica=replica.id, pool=replica.pool, kl_nats=drift_nats(first[1], answers)))

    def _note(self, seen: DriftSeen) -> None:
        id = ReplicaId(seen.replica)
        before = self._seen.get(id)
        if seen.problem and (before is None or before.problem != seen.problem):
            _log.warning("drift_not_measured", replica=seen.replica, error=seen.problem)
        self._seen[id] = seen


def drift_nats(first: Answers, later: Answers) -> float:
    """How far the later answers are from the first, on average of the tokens that both can be asked about."""
    apart = []
    for one, other in zip(first, later, strict=True):
        for before, now in zip(one, other, strict=False):
            apart.append(named_kl(before.top, now.top))
            if before.token != now.token:
                break
    return sum(apart) / len(apart) if apart else 0.0


async def _asked(connections: ConnectionPool, replica: Replica, prompt: str) -> tuple[ScoredToken, ...]:
    body = {
        "model": replica.model,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": TOKENS,
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": TOP,
    }
    request = Request(id="drift", operation=Operation.CHAT, model=replica.model, body=msgspec.json.encode(body))
    return read_logprobs(await call_replica(connections, replica, request, timeout_s=ANSWER_S), replica.id)


def read_logprobs(answer: bytes, replica: str) -> tuple[ScoredToken, ...]:
    """The tokens of a chat's answer; raises where it names no log-probabilities."""
    try:
        content: list[dict[str, Any]] = msgspec.json.decode(answer)["choices"][0]["logprobs"]["content"]
        return tuple(
            ScoredToken(
                one["token"], one["logprob"], {other["token"]: other["logprob"] for other in one["top_logprobs"]}
            )
            for one in content
        )
    except (msgspec.DecodeError, LookupError, TypeError) as error:
        raise EngineGarbage(f"{replica} gives no log-probabilities") from error
