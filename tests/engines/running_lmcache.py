"""A real LMCache server beside one vLLM: it keeps blocks in memory, and behind that in a Redis that others read."""

import http.client
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from heterodyne.engines.prometheus_page import read_page
from heterodyne.fleet.free_ports import free_ports
from tests.engines.install import ROOM

BLOCK_TOKENS = 128  # of vLLM on CPU
START_S = 120.0


class RunningLmcache:
    """Ready when the constructor returns; `config` is what its vLLM is started with."""

    def __init__(self, folder: Path, redis_port: int, *, name: str) -> None:
        self.port, self._pages_port, self._meters_port = free_ports(3)
        extra = {"lmcache.mp.host": "tcp://127.0.0.1", "lmcache.mp.port": self.port}
        self.config = json.dumps(
            {"kv_connector": "LMCacheMPConnector", "kv_role": "kv_both", "kv_connector_extra_config": extra}
        )
        store = {"type": "resp", "host": "127.0.0.1", "port": redis_port, "num_workers": 2}
        words = {
            "host": "127.0.0.1",
            "port": self.port,
            "http-host": "127.0.0.1",
            "http-port": self._pages_port,
            "prometheus-port": self._meters_port,
            "chunk-size": BLOCK_TOKENS,
            "supported-transfer-mode": "engine_driven",  # without it vLLM hangs on CPU
            "eviction-policy": "LRU",
            "l1-size-gb": 1,
            "l1-init-size-gb": 1,
            "l2-adapter": json.dumps(store),
        }
        command = [str(ROOM / "bin" / "lmcache"), "server"]
        for word, value in words.items():
            command += [f"--{word}", str(value)]
        self._log = folder.with_name(f"{name}.log")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, "LMCACHE_DISABLE_BANNER": "1", "LMCACHE_TRACK_USAGE": "false"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait_ready()

    def counted(self, name: str) -> float:
        """By its own meters."""
        return read_page(self._get(self._meters_port, "/metrics"), (name,)).total(name) or 0.0

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _wait_ready(self) -> None:
        until_s = time.monotonic() + START_S
        while True:
            assert self._process.poll() is None, f"LMCache ended:\n{self._log.read_text()[-4000:]}"
            assert time.monotonic() < until_s, f"not ready:\n{self._log.read_text()[-4000:]}"
            try:
                self._get(self._pages_port, "/health")
            except OSError:
                time.sleep(0.2)
            else:
                return

    def _get(self, port: int, path: str) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        finally:
            connection.close()
