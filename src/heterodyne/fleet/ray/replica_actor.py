"""The actor around one replica: it runs the engine's command on whichever node Ray gives it, and says how that is.

It travels to the cluster as text, so it needs nothing there but the standard library and Ray. The engine ends with the
actor, however that ends; one that dies alone is started again here, later each time.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException
from typing import IO

POLL_S = 0.1
PROBE_TIMEOUT_S = 2.0
PAUSE_FIRST_S = 0.25
PAUSE_MAX_S = 10.0
STEADY_S = 30.0  # an engine that lived this long earned a quick restart
SAID_CHARS_MAX = 300
OK = 200
# Becomes the engine; on Linux with a signal for when its parent is gone, on other systems it may outlive that.
BEGIN = """
import ctypes, os, signal, sys
prctl = getattr(ctypes.CDLL(None), "prctl", None)
if prctl is not None:
    prctl(1, signal.SIGKILL)
try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as error:
    sys.exit(f"{sys.argv[1]}: {error.strerror}")
"""


class ReplicaActor:
    """One per replica. Every call answers at once; a thread follows the engine."""

    def __init__(
        self,
        words: Sequence[str],
        health_path: str,
        *,
        start_timeout_s: float,
        stop_timeout_s: float,
        asked_at_s: float,
        place: tuple[str, str] | None = None,
    ) -> None:
        """`place` is what the node is reached by, and its id; None: Ray says it."""
        self._words, self._health_path = words, health_path
        self._start_timeout_s, self._stop_timeout_s = start_timeout_s, stop_timeout_s
        self._asked_at_s = asked_at_s
        self._host, self._node = place or _place_by_ray()
        self._port = _free_port(self._host)
        self._ready_at_s: float | None = None  # None: it does not serve now
        self._ended = 0  # lives of the engine that nobody asked to end
        self._said = ""
        self._is_leaving = False
        self._command: subprocess.Popen[bytes] | None = None
        threading.Thread(target=self._follow, daemon=True).start()

    def state(self) -> dict[str, object]:
        """How it is now."""
        return {
            "host": self._host,
            "port": self._port,
            "node": self._node,
            "asked_at_s": self._asked_at_s,
            "ready_at_s": self._ready_at_s,
            "problem": self._problem(),
        }

    def stop(self) -> None:
        """Ask the engine to end, wait, insist."""
        self._is_leaving = True
        command = self._command
        if command is None:
            return
        until_s = time.monotonic() + self._stop_timeout_s
        _signal_group(command, signal.SIGTERM)
        while command.poll() is None and time.monotonic() < until_s:
            time.sleep(POLL_S)
        _signal_group(command, signal.SIGKILL)

    def _problem(self) -> str | None:
        if self._ready_at_s is not None or not self._ended:
            return None
        return f"its engine has ended {self._ended} times; it said last: {self._said.strip() or 'nothing'}"

    def _follow(self) -> None:
        pause_s = PAUSE_FIRST_S
        while not self._is_leaving:
            born_s = time.monotonic()
            self._live(born_s + self._start_timeout_s)
            if self._is_leaving:
                return
            self._ended += 1
            if time.monotonic() - born_s > STEADY_S:
                pause_s = PAUSE_FIRST_S
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)
            self._asked_at_s = time.time()  # another start, which takes its own time

    def _live(self, ready_until_s: float) -> None:
        """One life of the engine."""
        self._said = ""
        self._command = command = subprocess.Popen(  # noqa: S603  # the operator's own command
            [sys.executable, "-S", "-c", BEGIN, *map(self._filled, self._words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        reading = threading.Thread(target=self._pass_on, args=(command.stdout,), daemon=True)
        reading.start()
        while command.poll() is None:
            if self._ready_at_s is None and self._is_ready():
                self._ready_at_s = time.time()
            if self._ready_at_s is None and time.monotonic() > ready_until_s:
                self._said = f"not ready after {self._start_timeout_s:.0f} s"
                _signal_group(command, signal.SIGKILL)
            time.sleep(POLL_S)
        _signal_group(command, signal.SIGKILL)  # what it has started ends, too
        self._ready_at_s = None
        reading.join(PROBE_TIMEOUT_S)

    def _pass_on(self, output: IO[bytes]) -> None:
        """What the engine says goes into the actor's log, where Ray keeps it; the end of it is remembered."""
        with output:
            for line in output:
                sys.stdout.write(line.decode(errors="replace"))
                self._said = (self._said + line.decode(errors="replace"))[-SAID_CHARS_MAX:]

    def _filled(self, word: str) -> str:
        for name, value in (("{port}", str(self._port)), ("{host}", self._host), ("{python}", sys.executable)):
            word = word.replace(name, value)
        return word

    def _is_ready(self) -> bool:
        connection = HTTPConnection(self._host, self._port, timeout=PROBE_TIMEOUT_S)
        try:
            connection.request("GET", self._health_path)
            return connection.getresponse().status == OK
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


def _place_by_ray() -> tuple[str, str]:
    import ray  # noqa: PLC0415  # an extra

    return str(ray.util.get_node_ip_address()), str(ray.get_runtime_context().get_node_id())


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _signal_group(command: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    try:
        os.killpg(command.pid, number)
    except ProcessLookupError:
        return
