"""What Slurm's commands are given, and what their answers mean."""

import subprocess

import pytest
from msgspec import structs

from heterodyne.domain.errors import DriverUnavailable
from heterodyne.fleet.hosts.slurm_words import (
    SlurmJob,
    batch_script,
    duration_s,
    found_replica,
    over,
    read_job_number,
    read_jobs,
    sbatch_words,
)
from tests.support.host_benches import slurm_pool

POOL = slurm_pool(slurm_options=("--partition=gpu", "--gres=gpu:h100:1"), slurm_setup=("module load cuda",))
RUNS = SlurmJob(id=4711, state="RUNNING", used_s=65.0, left_s=None, node="n7", comment="(null)", reason="None")


def test_a_job_is_submitted_under_the_name_of_its_pool_with_the_operators_options() -> None:
    words = sbatch_words(POOL, "heterodyne-chat", "0a1b")
    assert words[:2] == ["sbatch", "--parsable"]
    assert {"--job-name=heterodyne-chat", "--no-requeue"} <= set(words)
    assert words[-2:] == ["--partition=gpu", "--gres=gpu:h100:1"]


@pytest.mark.parametrize(
    "word", ["a b", "it's", "$(reboot)", "`reboot`", "; reboot", '"', "a\nb", "{port}'{host}", "*"]
)
def test_no_word_of_a_command_is_read_by_the_shell(word: str) -> None:
    """The script of the job is run, with `printf` for an engine."""
    pool = structs.replace(POOL, pool=structs.replace(POOL.pool, words=("printf", "%s|", word, "--port={port}")))
    pool = structs.replace(pool, settings=structs.replace(pool.settings, slurm_setup=()))
    ran = subprocess.run(
        ["/bin/sh"],
        input=batch_script(pool),
        env={"SLURM_JOB_ID": "4711", "SLURMD_NODENAME": "n7", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    port = str(pool.settings.slurm_port_first + 711)
    assert ran.stdout == f"{word.replace('{port}', port).replace('{host}', 'n7')}|--port={port}|"


def test_what_is_set_up_comes_before_the_command() -> None:
    script = batch_script(POOL)
    assert script.startswith("#!/bin/sh\n")
    assert script.index("module load cuda") < script.index("\nexec ")


def test_the_number_of_a_job_may_come_with_its_cluster() -> None:
    assert read_job_number("4711\n") == read_job_number("4711;alpha\n") == 4711
    with pytest.raises(DriverUnavailable, match="no job's number"):
        read_job_number("Submitted batch job\n")


def test_the_lines_of_squeue_are_read() -> None:
    [one] = read_jobs("4711|RUNNING|1:05|1-02:03:04|n7|0a1b|None\n")
    assert one == structs.replace(RUNS, left_s=93784.0, comment="0a1b")
    with pytest.raises(DriverUnavailable, match="not understood"):
        read_jobs("slurm_load_jobs error\n")


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("0:09", 9.0), ("1:02:03", 3723.0), ("2-00:00:00", 172800.0), ("UNLIMITED", None), ("INVALID", None)],
)
def test_times_are_read_as_slurm_writes_them(said: str, seconds: float | None) -> None:
    assert duration_s(said) == seconds


def test_a_job_that_runs_has_an_address() -> None:
    one = found_replica(
        structs.replace(POOL, settings=structs.replace(POOL.settings, slurm_address="{node}.hpc")), RUNS, ""
    )
    assert (one.id, one.host, one.problem) == ("chat-j4711", "n7.hpc", None)


def test_a_job_that_waits_says_why() -> None:
    one = found_replica(POOL, structs.replace(RUNS, state="PENDING", node="n/a", reason="QOSMaxGRESPerUser"), "")
    assert (one.host, one.problem, one.is_ended) == (None, "PENDING (QOSMaxGRESPerUser)", False)


@pytest.mark.parametrize("state", ["FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "COMPLETED"])
def test_a_job_that_has_ended_is_named_by_its_state(state: str) -> None:
    one = found_replica(POOL, structs.replace(RUNS, state=state, reason="NonZeroExitCode"), "")
    assert (one.is_ended, one.is_cancelled, one.problem) == (True, False, f"{state} (NonZeroExitCode)")


def test_a_job_that_somebody_cancelled_is_not_one_that_failed() -> None:
    one = found_replica(POOL, structs.replace(RUNS, state="CANCELLED"), "")
    assert (one.is_ended, one.is_cancelled) == (False, True)


def test_words_are_quoted_only_where_another_shell_reads_them() -> None:
    assert over((), ["squeue", "--format=%i|%T"]) == ["squeue", "--format=%i|%T"]
    assert over(("ssh", "login"), ["squeue", "--format=%i|%T"]) == ["ssh", "login", "squeue '--format=%i|%T'"]
