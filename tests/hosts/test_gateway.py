"""`heterodyne serve` over hosts: it starts replicas there, a reload changes how many, and they outlive it."""

import json
import signal
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from heterodyne.testing.scripted_ssh import ScriptedSsh
from heterodyne.testing.serve_process import ServeProcess
from tests.support.driver_bench import SERVER
from tests.support.host_benches import ports_in_a_row

WAIT_S = 120.0  # on a busy machine a process takes its time to start


def config_of(ssh: ScriptedSsh, port: int, replicas: int) -> str:
    words = ["{python}", "-S", "-c", SERVER, "{port}"]
    return (
        f"[fleet]\nssh_command = {json.dumps(ssh.command)}\n"
        f'[pools.chat]\nmodel = "m"\nengine = "openai"\nruns_on = "ssh"\ncommand = {json.dumps(words)}\n'
        f'ssh_hosts = {{ gpu-a = 3 }}\nssh_addresses = {{ gpu-a = "127.0.0.1" }}\nssh_port_first = {port}\n'
        f"replicas = {replicas}\n"
    )


def ready(serve: ServeProcess) -> float:
    with urllib.request.urlopen(f"{serve.url}/metrics", timeout=20) as answer:
        families = text_string_to_metric_families(answer.read().decode())
    wanted = {"pool": "chat", "state": "ready"}.items()
    return sum(
        one.value
        for family in families
        for one in family.samples
        if one.name == "heterodyne_fleet_replicas" and wanted <= one.labels.items()
    )


def until(is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < end_s, "it did not come to that"
        time.sleep(0.1)


def pids(ssh: ScriptedSsh) -> set[str]:
    return {file.read_text().strip() for file in ssh.home("gpu-a").glob(".heterodyne/*/pid")}


def test_replicas_on_hosts_are_served_follow_a_reload_and_outlive_the_gateway(tmp_path: Path) -> None:
    ssh, port = ScriptedSsh(tmp_path / "hosts"), ports_in_a_row()
    try:
        with ServeProcess(tmp_path, config=config_of(ssh, port, 1)) as serve:
            serve.wait_ready(WAIT_S)
            until(lambda: ready(serve) == 1)
            serve.config_file.write_text(config_of(ssh, port, 2), encoding="utf-8")
            serve.process.send_signal(signal.SIGHUP)
            until(lambda: ready(serve) == 2)
            before = pids(ssh)
            assert serve.stop() == 0, serve.log
        with ServeProcess(tmp_path, config=config_of(ssh, port, 2)) as serve:
            serve.wait_ready(WAIT_S)
            until(lambda: ready(serve) == 2)
            assert pids(ssh) == before
            assert serve.stop() == 0, serve.log
    finally:
        ssh.close()
