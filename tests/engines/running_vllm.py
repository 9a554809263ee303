"""A real vLLM on this machine's CPU, in the environment that `install.py` makes."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.engines.prometheus_page import read_page
from heterodyne.engines.vllm import VllmDialect
from heterodyne.ports.engine_request import EngineRequest
from tests.engines.install import ROOM

MODEL = "smollm2-135m"
CONTEXT_TOKENS = 2048
START_S = 900.0  # on a machine that others use, too
DIALECT = VllmDialect()


def alone_on(core: int) -> dict[str, str]:
    """The environment of one of two on a machine: untuned threads make each wait for the other's core."""
    return {"VLLM_HOST_IP": "127.0.0.1", "OMP_WAIT_POLICY": "passive", "VLLM_CPU_OMP_THREADS_BIND": str(core)}


class RunningVllm:
    """Started when somebody waits for it; may be killed, and started again on the same port."""

    def __init__(
        self, folder: Path, *words: str, name: str = "vllm", environment: Mapping[str, str] | None = None
    ) -> None:
        """`words` are for its command line, beside what all are started with."""
        self._folder = folder
        self._words = words
        self._environment = environment or {}
        self._log = folder.with_name(f"{name}.log")
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def wait_ready(self) -> None:
        if self._process is None or self._process.poll() is not None:
            self.start()
        until_s = time.monotonic() + START_S
        while not self._is_ready():
            assert self._process is not None
            assert self._process.poll() is None, f"vLLM ended:\n{self._log.read_text()[-4000:]}"
            assert time.monotonic() < until_s, f"not ready:\n{self._log.read_text()[-4000:]}"
            time.sleep(0.5)

    def ask(self, call: EngineRequest) -> tuple[int, bytes]:
        return self.get(call.path, call.body)

    def get(self, path: str, body: bytes = b"") -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=100)
        try:
            connection.request("POST" if body else "GET", path, body or None, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def load(self) -> EngineLoad:
        """What it says of itself, as our dialect reads it."""
        return DIALECT.read_load([self.get(path)[1] for path in DIALECT.load_paths])

    def counted(self, name: str) -> float:
        """By its own metrics."""
        return read_page(self.get("/metrics")[1], (name,)).total(name) or 0.0

    def kill(self) -> None:
        """The server and the process that computes, at once, as a lost machine would."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def kill_core(self) -> None:
        """Only the process that computes; the server lives on for a moment to say so."""
        assert self._process is not None
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                name, _, rest = stat.read_text().rpartition(")")
                # As much of VLLM::EngineCore as a process name holds.
                if "EngineCor" in name and int(rest.split()[1]) == self._process.pid:
                    os.kill(int(stat.parent.name), signal.SIGKILL)
                    return
        raise AssertionError("no process computes")

    def wait_ended(self) -> None:
        assert self._process is not None
        self._process.wait(30)

    def start(self) -> None:
        command = [str(ROOM / "bin" / "vllm"), "serve", str(self._folder), "--served-model-name", MODEL]
        command += ["--host", "127.0.0.1", "--port", str(self.port), "--max-model-len", str(CONTEXT_TOKENS)]
        # The weights went through 16 bits once; computing in 32 adds no second rounding, so greedy answers agree.
        command += ["--enforce-eager", "--dtype", "float32", *self._words]
        switches = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **switches, **self._environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _is_ready(self) -> bool:
        try:
            return DIALECT.is_ready(*self.get(DIALECT.health_path))
        except OSError:
            return False
