"""`heterodyne serve` with an endpoint picker, as a cluster without Kubernetes has it: a folder, a file, an Envoy."""

import asyncio
import socket
from pathlib import Path

import pytest
import yaml

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support import envoy, requests
from tests.support.envoy import needs_envoy
from tests.support.raw_client import ask

pytestmark = needs_envoy

SOON_S = 60.0
SETTINGS = """
[gateway]
workers = 2
[endpoint_picker]
listens = true
port = {port}
access = "proxy"
manifests = "{folder}"
[pools.chat]
model = "scripted"
inference_pool = "default/chat"
"""


def write(folder: Path, *engines: ScriptedEngine) -> None:
    """A pool of one pod, which listens on the ports of these engines."""
    ports = [{"number": engine.port} for engine in engines] or [{"number": 1}]
    pool = {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": "chat"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "targetPorts": ports},
    }
    pod = {"kind": "Pod", "metadata": {"name": "a", "labels": {"app": "x"}}, "status": {"podIP": "127.0.0.1"}}
    found = [pool, pod] if engines else [pool]
    (folder / "pool.yaml.new").write_text(yaml.safe_dump_all(found), encoding="utf-8")
    (folder / "pool.yaml.new").rename(folder / "pool.yaml")


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_pods_that_come_and_go_are_followed_and_two_workers_share_the_port(tmp_path: Path, port: int) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    write(folder)
    async with (
        ScriptedEngine(behaviours.answer("one")) as one,
        ScriptedEngine(behaviours.answer("other")) as other,
    ):
        with ServeProcess(tmp_path, config=SETTINGS.format(port=port, folder=folder)) as serve:
            clusters = [envoy.destination_cluster(), envoy.static_cluster("picker", [port], is_http2=True)]
            async with envoy.running_envoy([envoy.listener("in", [envoy.ext_proc()])], clusters, threads=2) as proxy:
                await until(proxy.port, {"503"})
                write(folder, one)
                await until(proxy.port, {"one"})
                write(folder, other)
                (folder / "pool.yaml").write_text("a: [", encoding="utf-8")
                async with asyncio.timeout(SOON_S):
                    while "reload_refused" not in serve.log:
                        await asyncio.sleep(0.05)
                assert "pool.yaml" in serve.log
                await until(proxy.port, {"other"})
            await asyncio.to_thread(serve.stop)


async def until(port: int, wanted: set[str]) -> None:
    """Until answers come from these ports, and from no others; a status stands for what is no answer."""
    seen: list[str] = []
    async with asyncio.timeout(SOON_S):
        while set(seen[-12:]) != wanted or len(seen) < 12:
            try:
                answer = await ask(port, requests.chat())
            except (OSError, asyncio.IncompleteReadError, AssertionError):
                seen.append("none")
                continue
            content = answer.json["choices"][0]["message"]["content"] if answer.status == 200 else ""
            seen.append(content or str(answer.status))
            await asyncio.sleep(0.02)
