"""Replicas as they serve, judged by a version's canonical artifact."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

from msgspec import Struct

from heterodyne.domain.artifact import ModelVersion
from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.parity import ParityVerdict
from heterodyne.parity.limits import breaches_of, limits_of
from heterodyne.registry.building.builder import OnStep
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.parity.judge import Bench, bench_for, measure
from heterodyne.registry.parity.llamacpp_scorer import LlamaCppScorer
from heterodyne.registry.parity.vllm_scorer import VllmScorer
from heterodyne.registry.reference.texts import TEXTS

ClosingScorer = LlamaCppScorer | VllmScorer

SCORERS: Final[dict[str, Callable[[str, str], ClosingScorer]]] = {  # by engine, of a URL and the name it serves by
    "llamacpp": lambda url, _: LlamaCppScorer(url),
    "vllm": VllmScorer,
}


class ServedReplica(Struct, frozen=True, kw_only=True):
    """One that listens."""

    pool: str
    engine: str
    url: str
    model: str  # by which it serves
    precision: str


class ServedVerdict(Struct, frozen=True, kw_only=True):
    """What came of it."""

    replica: ServedReplica
    verdict: ParityVerdict


async def judge_served(
    catalog: Catalog,
    version: ModelVersion,
    replicas: Sequence[ServedReplica],
    *,
    texts: Sequence[str] = TEXTS,
    on_step: OnStep = lambda done, of: None,
    clock: Callable[[], float] = time.time,
) -> list[ServedVerdict]:
    """Each of them, on the same texts. Raises for an engine that nobody can ask for log-probabilities."""
    for one in replicas:
        if one.engine not in SCORERS:
            raise SettingsInvalid(
                f"the pool {one.pool}: {one.engine} is not asked for log-probabilities; {' and '.join(SCORERS)} are"
            )
    canonical = await catalog.canonical(version)
    bench = await asyncio.to_thread(bench_for, await catalog.local(canonical), texts)
    found = []
    for number, one in enumerate(replicas):
        verdict = await asyncio.to_thread(_judge, bench, one, canonical.artifact.digest, clock)
        found.append(ServedVerdict(replica=one, verdict=verdict))
        on_step(number + 1, len(replicas))
    return found


def _judge(bench: Bench, replica: ServedReplica, reference: str, clock: Callable[[], float]) -> ParityVerdict:
    began_s = clock()
    with closing(SCORERS[replica.engine](replica.url, replica.model)) as scorer:
        measured = measure(bench, scorer, replica.precision)
    return ParityVerdict(
        reference=reference,
        run_by=replica.engine,
        at=clock(),
        took_s=round(clock() - began_s, 1),
        measures=measured,
        breaches=breaches_of(measured, limits_of(replica.precision, replica.engine)),
    )
