"""Asks both sides of a rollout copies of users' requests, one at a time, and compares what they say."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from heterodyne.control.replica_call import call_replica
from heterodyne.control.whole_answer import read_whole_text
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import FleetSnapshot, Replica
from heterodyne.domain.request import Request
from heterodyne.rollout.shadow import ShadowAnswer, ShadowSample, ShadowSeen, compared
from heterodyne.telemetry import log
from heterodyne.wire.connection_pool import ConnectionPool

ANSWER_S, CONNECT_S = 120.0, 5.0

_log = log.get("control")


class ShadowCaller:
    """One per worker. Nobody is given the answers, and nobody pays for them."""

    def __init__(
        self,
        next_sample: Callable[[], Awaitable[ShadowSample]],
        fleet: Callable[[], FleetSnapshot],
        note: Callable[[str, ShadowSeen], None],
    ) -> None:
        self._next_sample = next_sample
        self._fleet = fleet
        self._note = note

    async def run(self) -> None:
        """Until cancelled."""
        connections = ConnectionPool(asyncio.get_running_loop(), idle_max=1, connect_timeout_s=CONNECT_S)
        try:
            while True:
                sample = await self._next_sample()
                seen = await self._try_compare(connections, sample)
                if seen is not None:
                    self._note(sample.rollout, seen)
        finally:
            await connections.close()

    async def _try_compare(self, connections: ConnectionPool, sample: ShadowSample) -> ShadowSeen | None:
        """None: there is nothing to compare, for the baseline does not answer, or one side is not there."""
        replicas = self._fleet().by_model.get(sample.request.model, ())
        baseline = _try_any(replicas, sample.baseline_pools)
        candidate = _try_any(replicas, sample.candidate_pools)
        if baseline is None or candidate is None:
            return None
        try:
            usual = await _asked(connections, baseline, sample.request)
        except EngineError:
            return None
        try:
            found = await _asked(connections, candidate, sample.request)
        except EngineError as error:
            _log.info("copy_failed", rollout=sample.rollout, replica=candidate.id, error=str(error))
            return compared(usual, None)
        return compared(usual, found)


def _try_any(replicas: tuple[Replica, ...], pools: tuple[str, ...]) -> Replica | None:
    takeable = [one for one in replicas if one.pool in pools and one.is_takeable]
    return random.choice(takeable) if takeable else None  # noqa: S311 - keeps no secret


async def _asked(connections: ConnectionPool, replica: Replica, request: Request) -> ShadowAnswer:
    said = read_whole_text(await call_replica(connections, replica, request, timeout_s=ANSWER_S), replica.id)
    return ShadowAnswer(text=said.text, tokens=said.tokens)
