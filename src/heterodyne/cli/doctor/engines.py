"""Whether each engine that is reached by URL answers, is what it is called, and serves the model it is asked for."""

import asyncio
import time
from collections.abc import Iterable

from msgspec import structs

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.config.settings import Settings
from heterodyne.control.prober import Prober
from heterodyne.control.problems import ProblemKind
from heterodyne.control.replica_seen import ReplicaSeen
from heterodyne.control.replica_watch import ReplicaWatch
from heterodyne.domain.fleet import Health, Replica
from heterodyne.engines.catalogue import ENGINES
from heterodyne.supervisor.configured_replicas import remote_replicas
from heterodyne.supervisor.fleet.setting_path import setting_path
from heterodyne.wire.connection_pool import ConnectionPool

TOPIC = "engines"
AT_ONCE_MAX = 32
ADVICE = {
    ProblemKind.NOT_READY: "start the engine there, correct the URL, or name the key it wants in api_key_env",
    ProblemKind.WRONG_MODEL: "set engine_model to a name it serves, or point urls at an engine that serves the model",
    ProblemKind.MODELS_UNREAD: 'is it of the kind that `engine` says? engine = "openai" asks for no more than the API',
    ProblemKind.CONTEXT_SHORT: "lower context_tokens, or start the engine with a longer context",
    ProblemKind.LOAD_UNREAD: "is it of the kind that `engine` says, with its metrics page turned on?",
}
UNABLE = (ProblemKind.NOT_READY, ProblemKind.WRONG_MODEL)


def engines(settings: Settings) -> list[DoctorFinding]:
    """Each is probed once, as `serve` does again and again. Where no replica of a model answers, it is a blocker."""
    seen = asyncio.run(look_at_all(settings))
    able = {one.model for one in seen if not _unable(one)}
    able |= {pool.model for pool in settings.pools.values() if pool.weights is not None}
    return [finding for one in seen for finding in _findings(one, has_others=one.model in able)]


async def look_at_all(settings: Settings) -> list[ReplicaSeen]:
    """Each replica that is reached by URL, after one look."""
    pool = ConnectionPool(asyncio.get_running_loop(), idle_max=1, connect_timeout_s=settings.gateway.connect_timeout_s)
    turns = asyncio.Semaphore(AT_ONCE_MAX)

    async def probe(replica: Replica) -> ReplicaSeen:
        # There is no wait for it to come up: what does not answer now is down.
        watch = ReplicaWatch(structs.replace(replica, health=Health.DOWN), setting_path(settings, replica), 0.0)
        async with turns:
            seen = await Prober(replica, ENGINES[replica.engine], pool, time.monotonic).probe(
                wants_models=True, has_fallback=False
            )
        watch.take(seen, 0)
        return watch.snapshot(time.monotonic())

    try:
        return list(await asyncio.gather(*(probe(replica) for replica in remote_replicas(settings))))
    finally:
        await pool.close()


def _unable(seen: ReplicaSeen) -> bool:
    return any(problem.kind in UNABLE for problem in seen.problems)


def _findings(seen: ReplicaSeen, *, has_others: bool) -> Iterable[DoctorFinding]:
    if not seen.problems:
        context = "" if seen.context_tokens is None else f", {seen.context_tokens} tokens of context"
        value = f"{seen.url} answers as {seen.engine}, serves {seen.model}{context}"
        yield DoctorFinding(topic=TOPIC, name=str(seen.id), state=FindingState.GOOD, value=value)
    for problem in seen.problems:
        is_blocking = problem.kind in UNABLE and not has_others
        yield DoctorFinding(
            topic=TOPIC,
            name=str(seen.id),
            state=FindingState.BLOCKER if is_blocking else FindingState.WARNING,
            value=problem.text,
            advice=ADVICE.get(problem.kind),
        )
