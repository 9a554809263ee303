"""Pure: the words and scripts that Slurm's commands are given, and what their answers mean."""

import shlex
from collections.abc import Sequence

from msgspec import Struct

from heterodyne.domain.errors import DriverUnavailable
from heterodyne.fleet.hosts.platform import CommandReplica, PlacedPool

PORTS = 1000  # after the first; neighbours on a node are far fewer jobs apart
FORMAT = "%i|%T|%M|%L|%B|%k|%r"  # number, state, time used, time left, node, comment, reason
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD")
RUNNING = ("RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "SUSPENDED", "STOPPED", "RESIZING")
NO_REASON = ("None", "(null)", "")
UNITS_S = (1.0, 60.0, 3600.0)


class SlurmJob(Struct, frozen=True, kw_only=True):
    """One line of squeue."""

    id: int
    state: str
    used_s: float | None
    left_s: float | None  # None: it has no limit
    node: str
    comment: str
    reason: str


def job_name(namespace: str, pool: str) -> str:
    """By which the jobs of a pool are found again."""
    return f"{namespace}-{pool}"


def sbatch_words(pool: PlacedPool, name: str, ours: str) -> list[str]:
    """Its script is its input. A job that is preempted ends, and another takes its place under its own number."""
    return [
        "sbatch",
        "--parsable",
        f"--job-name={name}",
        f"--comment={ours}",
        "--no-requeue",
        *pool.settings.slurm_options,
    ]


def squeue_words(name: str) -> list[str]:
    """All of that name, those included that have ended within Slurm's memory (MinJobAge)."""
    return ["squeue", "--noheader", "--me", "--states=all", f"--name={name}", f"--format={FORMAT}"]


def scancel_words(job: int) -> list[str]:
    """Its processes are asked to end, and are ended after Slurm's KillWait."""
    return ["scancel", str(job)]


def batch_script(pool: PlacedPool) -> str:
    """The engine is the job; what is in its words stays words, whatever shell characters they have."""
    words = " ".join(_quoted(word) for word in pool.pool.words)
    lines = (
        "#!/bin/sh",
        f"port=$(( {pool.settings.slurm_port_first} + SLURM_JOB_ID % {PORTS} ))",
        "node=${SLURMD_NODENAME:-$(hostname)}",
        *pool.settings.slurm_setup,
        f"exec {words}",
    )
    return "\n".join(lines) + "\n"


def read_job_number(said: str) -> int:
    """Of what `sbatch --parsable` says: the number, and perhaps the cluster."""
    number = said.strip().splitlines()[-1].partition(";")[0] if said.strip() else ""
    if not number.isdecimal():
        raise DriverUnavailable(f"sbatch says no job's number: {said[:200]!r}")
    return int(number)


def read_jobs(said: str) -> tuple[SlurmJob, ...]:
    """Of what squeue says."""
    return tuple(_job(line) for line in said.splitlines() if line.strip())


def found_replica(pool: PlacedPool, job: SlurmJob, ours: str) -> CommandReplica:
    """What a job is to a fleet."""
    has_node = job.state in RUNNING and job.node not in {"", "n/a", "(null)"}
    reason = "" if job.reason in NO_REASON else f" ({job.reason})"
    return CommandReplica(
        id=replica_id(pool, job.id),
        place=f"job {job.id}",
        host=pool.settings.slurm_address.replace("{node}", job.node) if has_node else None,
        port=port_of(pool, job.id),
        ran_s=job.used_s,
        left_s=job.left_s if has_node else None,
        problem=None if job.state == "RUNNING" else f"{job.state}{reason}",
        is_ended=job.state not in WAITING and job.state not in RUNNING and job.state != "CANCELLED",
        is_cancelled=job.state == "CANCELLED",
        is_ours=job.comment == ours,
    )


def replica_id(pool: PlacedPool, job: int) -> str:
    """Slurm's own number, so that both are found by it."""
    return f"{pool.name}-j{job}"


def port_of(pool: PlacedPool, job: int) -> int:
    """As its script computes it."""
    return pool.settings.slurm_port_first + job % PORTS


def duration_s(said: str) -> float | None:
    """Of `days-hours:minutes:seconds`; None: no limit, or not known yet."""
    days, dash, clock = said.strip().rpartition("-")
    parts = clock.split(":")
    if not all(part.isdecimal() for part in parts) or len(parts) > len(UNITS_S) or (dash and not days.isdecimal()):
        return None
    total_s = sum(int(part) * unit_s for part, unit_s in zip(reversed(parts), UNITS_S, strict=False))
    return total_s + (int(days) * 86400.0 if dash else 0.0)


def over(prefix: Sequence[str], words: Sequence[str]) -> list[str]:
    """The words here, or quoted for the shell at the other end."""
    return [*prefix, shlex.join(words)] if prefix else list(words)


def _quoted(word: str) -> str:
    """For a shell. A word with braces is in single quotes: they end around what the shell is to put there."""
    quoted = shlex.quote(word)
    for name, value in (("{port}", "$port"), ("{host}", "$node"), ("{python}", "python3")):
        quoted = quoted.replace(name, f"'\"{value}\"'")
    return quoted


def _job(line: str) -> SlurmJob:
    try:
        number, state, used, left, node, comment, reason = (part.strip() for part in line.split("|", 6))
        return SlurmJob(
            id=int(number),
            state=state,
            used_s=duration_s(used),
            left_s=duration_s(left),
            node=node,
            comment=comment,
            reason=reason,
        )
    except ValueError as error:
        raise DriverUnavailable(f"squeue says what is not understood: {line[:200]!r}") from error
