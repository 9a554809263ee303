"""Jobs of Slurm: a replica is a batch job whose script is the engine, found again by the job's name.

Slurm's own `sbatch`, `squeue` and `scancel` are run, here or on a login node.
"""

import secrets
from collections.abc import Sequence

from msgspec import Struct

from heterodyne.domain.errors import DriverRefused, DriverUnavailable
from heterodyne.domain.fleet import PoolName
from heterodyne.fleet.hosts.platform import CommandReplica, PlacedPool
from heterodyne.fleet.hosts.program import Ran, run_program
from heterodyne.fleet.hosts.slurm_words import (
    batch_script,
    found_replica,
    job_name,
    over,
    port_of,
    read_job_number,
    read_jobs,
    replica_id,
    sbatch_words,
    scancel_words,
    squeue_words,
)

TIMEOUT_S = 30.0
GONE = "Invalid job id"  # what scancel says of a job that has ended


class SlurmAccess(Struct, frozen=True, kw_only=True):
    """How its commands are run."""

    over: tuple[str, ...]  # what runs them elsewhere; empty: they are here
    namespace: str  # whose jobs these are


class SlurmPlatform:
    """One per gateway."""

    name = "slurm"

    def __init__(self, access: SlurmAccess) -> None:
        self._access = access
        self._ours = secrets.token_hex(4)  # the comment of what this gateway has submitted
        self._told: dict[PoolName, set[int]] = {}  # jobs whose end was told; Slurm goes on telling it for a while
        self._is_known: set[PoolName] = set()

    def take(self, access: SlurmAccess) -> None:
        """Other settings hold."""
        self._access = access

    async def find(self, pool: PlacedPool) -> tuple[CommandReplica, ...]:
        """What squeue has of the pool."""
        ran = await self._run(squeue_words(job_name(self._access.namespace, pool.name)))
        if ran.code != 0:
            raise DriverUnavailable(f"squeue: {ran.complaint}")
        jobs = read_jobs(ran.output)
        told = self._told.setdefault(pool.name, set())
        found = [found_replica(pool, job, self._ours) for job in jobs if job.id not in told]
        ended = {
            job.id for job, one in zip((job for job in jobs if job.id not in told), found, strict=True) if _is_over(one)
        }
        self._told[pool.name] = {job.id for job in jobs if job.id in told or job.id in ended}
        if pool.name not in self._is_known:  # those that ended before this gateway began are nobody's loss
            self._is_known.add(pool.name)
            return tuple(one for one in found if not _is_over(one))
        return tuple(found)

    async def start(self, pool: PlacedPool) -> CommandReplica:
        """Submit one more job."""
        words = sbatch_words(pool, job_name(self._access.namespace, pool.name), self._ours)
        ran = await self._run(words, text=batch_script(pool))
        if ran.code != 0:
            raise DriverRefused(f"sbatch: {ran.complaint}")
        job = read_job_number(ran.output)
        return CommandReplica(id=replica_id(pool, job), place=f"job {job}", port=port_of(pool, job), is_ours=True)

    async def stop(self, pool: PlacedPool, replica: CommandReplica) -> None:
        """Cancel its job; one that has ended leaves nothing behind."""
        if replica.is_ended:
            return
        job = int(replica.place.rpartition(" ")[2])
        ran = await self._run(scancel_words(job))
        if ran.code != 0 and GONE not in ran.complaint:
            raise DriverUnavailable(f"scancel {job}: {ran.complaint}")

    async def _run(self, words: Sequence[str], text: str = "") -> Ran:
        return await run_program(over(self._access.over, words), TIMEOUT_S, text=text)


def _is_over(one: CommandReplica) -> bool:
    return one.is_ended or one.is_cancelled
