"""Stands in for Slurm's `sbatch`, `squeue` and `scancel`, in the forms that their manuals print.

Nodes are names with a number of places; a job's script runs on this machine, first come first served, whenever one of
the three commands is run. There are no users, priorities, limits or accounts in it, and no options but those below.
"""

import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

RUNNING, PENDING = "RUNNING", "PENDING"
FIRST_JOB = 4001


class ScriptedJob(Struct, kw_only=True):
    """One job, as its file has it."""

    id: int
    name: str
    comment: str = ""
    state: str = PENDING
    reason: str = "None"
    node: str = ""
    pid: int = 0
    began_s: float = 0.0
    limit_s: float | None = None


class _Cluster(Struct, kw_only=True):
    nodes: dict[str, int]
    refuses: str = ""  # what sbatch says instead of taking a job; empty: it takes it
    is_away: bool = False  # whether slurmctld does not answer
    jobs: list[ScriptedJob] = []


class ScriptedSlurm:
    """One cluster below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def made(cls, folder: Path, nodes: dict[str, int]) -> "ScriptedSlurm":
        """With so many places on each node."""
        folder.mkdir(parents=True, exist_ok=True)
        one = cls(folder)
        one._file.write_bytes(msgspec.json.encode(_Cluster(nodes=nodes)))
        return one

    @property
    def over(self) -> tuple[str, ...]:
        """For `fleet.slurm_over`."""
        return (sys.executable, "-m", "heterodyne.testing.scripted_slurm", str(self._folder))

    def jobs(self) -> list[ScriptedJob]:
        """As they are now."""
        with self._open() as cluster:
            return list(cluster.jobs)

    def end(self, job: int, state: str, reason: str = "None") -> None:
        """A job ends in the cluster's way: PREEMPTED, FAILED, NODE_FAIL, TIMEOUT, CANCELLED."""
        with self._open() as cluster:
            [one] = [one for one in cluster.jobs if one.id == job]
            _end(one, state, reason)

    def set(self, *, nodes: dict[str, int] | None = None, refuses: str = "", is_away: bool = False) -> None:
        """What the cluster is from now on."""
        with self._open() as cluster:
            cluster.nodes = cluster.nodes if nodes is None else nodes
            cluster.refuses, cluster.is_away = refuses, is_away

    def limit(self, job: int, left_s: float) -> None:
        """A job has so much time left."""
        with self._open() as cluster:
            [one] = [one for one in cluster.jobs if one.id == job]
            one.limit_s = time.time() - one.began_s + left_s

    def close(self) -> None:
        """End all jobs, and forget them."""
        with self._open() as cluster:
            for one in cluster.jobs:
                _end(one, "CANCELLED", "None")
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, words: Sequence[str], script: str) -> str:
        """One of the three commands."""
        with self._open() as cluster:
            if cluster.is_away:
                sys.exit(f"{words[0]}: error: Unable to contact slurm controller (connect failure)")
            said = {"sbatch": self._sbatch, "squeue": self._squeue, "scancel": self._scancel}[words[0]](
                cluster, words[1:], script
            )
            self._schedule(cluster)
            return said

    @property
    def _file(self) -> Path:
        return self._folder / "cluster.json"

    @contextmanager
    def _open(self) -> Iterator[_Cluster]:
        """One at a time."""
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            cluster = msgspec.json.decode(self._file.read_bytes(), type=_Cluster)
            for one in cluster.jobs:
                _reap(one, self._folder)
            try:
                yield cluster
            finally:
                self._file.write_bytes(msgspec.json.encode(cluster))

    def _sbatch(self, cluster: _Cluster, words: Sequence[str], script: str) -> str:
        if cluster.refuses:
            sys.exit(f"sbatch: error: Batch job submission failed: {cluster.refuses}")
        job = ScriptedJob(id=FIRST_JOB + len(cluster.jobs), name=_option(words, "--job-name"), reason="Priority")
        job.comment = _option(words, "--comment")
        (self._folder / f"{job.id}.sh").write_text(script)
        cluster.jobs.append(job)
        return f"{job.id}\n"

    def _squeue(self, cluster: _Cluster, words: Sequence[str], _: str) -> str:
        self._schedule(cluster)
        name, form = _option(words, "--name"), _option(words, "--format")
        return "".join(_line(one, form) + "\n" for one in cluster.jobs if one.name == name)

    def _scancel(self, cluster: _Cluster, words: Sequence[str], _: str) -> str:
        found = [one for one in cluster.jobs if one.id == int(words[-1]) and one.state in {RUNNING, PENDING}]
        if not found:
            sys.exit(f"scancel: error: Kill job error on job id {words[-1]}: Invalid job id specified")
        _end(found[0], "CANCELLED", "None")
        return ""

    def _schedule(self, cluster: _Cluster) -> None:
        for one in cluster.jobs:
            if one.state != PENDING:
                continue
            free = [
                node
                for node, places in cluster.nodes.items()
                if sum(other.node == node and other.state == RUNNING for other in cluster.jobs) < places
            ]
            one.reason = "Resources"
            if free:
                self._begin(one, free[0])

    def _begin(self, one: ScriptedJob, node: str) -> None:
        with (self._folder / f"slurm-{one.id}.out").open("w") as output:
            started = subprocess.Popen(  # noqa: S603  # the job
                ["/bin/sh", "-c", 'sh "$1"; echo $? >"$2"', "job", *self._files(one)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "SLURM_JOB_ID": str(one.id), "SLURMD_NODENAME": node},
                start_new_session=True,
            )
        one.state, one.node, one.pid, one.began_s, one.reason = RUNNING, node, started.pid, time.time(), "None"

    def _files(self, one: ScriptedJob) -> tuple[str, str]:
        return str(self._folder / f"{one.id}.sh"), str(self._folder / f"{one.id}.code")


def _end(one: ScriptedJob, state: str, reason: str) -> None:
    if one.state not in {RUNNING, PENDING}:
        return
    if one.pid:
        with suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)
    one.state, one.reason = state, reason


def _reap(one: ScriptedJob, folder: Path) -> None:
    """Whether its script has ended by itself."""
    code = folder / f"{one.id}.code"
    if one.state != RUNNING or not code.exists() or not code.read_text().strip():
        return
    is_fine = code.read_text().strip() == "0"
    one.state, one.reason = ("COMPLETED", "None") if is_fine else ("FAILED", "NonZeroExitCode")


def _line(one: ScriptedJob, form: str) -> str:
    used_s = time.time() - one.began_s if one.state == RUNNING else 0.0
    left = "UNLIMITED" if one.limit_s is None else _clock(max(0.0, one.limit_s - used_s))
    fields = {
        "%i": str(one.id),
        "%T": one.state,
        "%M": _clock(used_s),
        "%L": left,
        "%B": one.node or "n/a",
        "%k": one.comment or "(null)",
        "%r": one.reason,
    }
    return "|".join(fields[field] for field in form.split("|"))


def _clock(seconds: float) -> str:
    """`[days-][hours:]minutes:seconds`."""
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}-{hours:02}:{minutes:02}:{left:02}"
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def _option(words: Sequence[str], name: str) -> str:
    return next((word.partition("=")[2] for word in words if word.startswith(f"{name}=")), "")


def main() -> None:
    """`scripted_slurm FOLDER 'sbatch …'`."""
    words = shlex.split(sys.argv[2])
    script = sys.stdin.read() if words[0] == "sbatch" else ""
    sys.stdout.write(ScriptedSlurm(Path(sys.argv[1])).run(words, script))


if __name__ == "__main__":
    main()
