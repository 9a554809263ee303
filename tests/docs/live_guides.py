"""A running mixed fleet in which the commands of a guide are typed one after another, as a reader would."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heterodyne.domain.routing_rule import Reason
from tests.support.mixed_fleet import EMULATORS, Example, running, wait_until

WITHIN_S = 120.0  # of one command, on a machine that may be busy
REQUESTS, TOKENS = 12, 500  # instead of 200 and 2000: the page's figures are not what is tested
BACKGROUND = (
    " | tee run/answer",
    " &",
    "heterodyne emulate ",
)  # ends of lines and beginnings, of what is not waited for


class LiveGuide:
    """Types commands into the folder of the example, with the ports that this fleet has."""

    def __init__(self, example: Example, folder: Path) -> None:
        self._example = example
        self._folder = folder
        self._behind: list[subprocess.Popen[str]] = []
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "XDG_STATE_HOME": str(folder / "state"),
            "HETERODYNE_GATEWAY__PORT": _port(example.url),
            "HETERODYNE_CONSOLE__PORT": _port(example.console_url),
            "COLUMNS": "200",
        }
        config = (folder / "heterodyne.toml").read_text(encoding="utf-8")
        ports = re.findall(r'urls = \["http://127\.0\.0\.1:(\d+)"\]', config)
        self._ports = {
            str(number): port for number, port in zip(range(9001, 9001 + len(EMULATORS)), ports, strict=True)
        }
        self._ports["8080"] = _port(example.url)

    def typed(self, command: str) -> str:
        """What it printed; of one that runs on, what it printed until it was there."""
        script = self._as_here(command)
        if _runs_on(command):
            return self._begun(script.removesuffix(" &"))
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
        return done.stdout + done.stderr

    def rest(self) -> None:
        """Until what was begun is over, but for servers."""
        for one in self._behind:
            if one.poll() is None and not _is_server(one):
                one.wait(WITHIN_S)

    def end_servers(self) -> None:
        """As Ctrl-C would."""
        for one in filter(_is_server, self._behind):
            one.kill()
            one.wait()

    def close(self) -> None:
        for one in self._behind:
            one.kill()
            one.wait()

    def _begun(self, script: str) -> str:
        log = self._folder / f"behind-{len(self._behind)}"
        with log.open("w") as out:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {script}" if "|" not in script else script],
                cwd=self._folder,
                env=self._environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self._behind.append(process)
        wanted = "http://" if "emulate" in script else "data: "
        wait_until(
            lambda: wanted in log.read_text(errors="replace") or "bench" in script or process.poll() is not None,
            WITHIN_S,
            script,
        )
        return log.read_text(errors="replace")

    def _as_here(self, command: str) -> str:
        for there, here in self._ports.items():
            command = re.sub(rf"(127\.0\.0\.1:|--port ){there}\b", rf"\g<1>{here}", command)
        command = command.replace("--requests 200", f"--requests {REQUESTS}").replace(
            "tail -n 200", f"tail -n {REQUESTS}"
        )
        command = command.replace('"max_tokens": 2000', f'"max_tokens": {TOKENS}')
        if "req_…" in command:
            wait_until(self._usual, WITHIN_S, "a record")
            command = command.replace("req_…", self._usual()[-1])
        return re.sub(r"req_[0-9a-f]+", lambda _: self._usual()[-1], command)

    def _usual(self) -> list[str]:
        """Requests that were sent where guides say: one that a slow machine has left time for may try a pool instead
        that was not heard of for a while."""
        return [str(one["id"]) for one in self._example.records() if one["decision"] != Reason.EXPLORED]


@contextmanager
def live_guide(folder: Path) -> Iterator[LiveGuide]:
    """As after `make mixed-fleet`, in the folder of the example."""
    with running(folder) as example:
        (folder / "run").symlink_to(folder)
        guide = LiveGuide(example, folder)
        try:
            yield guide
        finally:
            guide.close()


def _is_server(process: "subprocess.Popen[str]") -> bool:
    return "heterodyne emulate" in str(process.args)


def _runs_on(command: str) -> bool:
    return command.endswith(BACKGROUND[:2]) or command.startswith(BACKGROUND[2])


def _port(url: str) -> str:
    return url.rstrip("/").rpartition(":")[2]
