"""A real gateway whose disk, descriptors and memory can be taken away, and questions to it."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

MODEL = "chaos-chat"
WITHIN_S = 40.0  # for whatever has to happen by itself; a busy machine is slow
STATE_MIB = 48
MOUNT = 'mount -t tmpfs -o size=%dm,mode=700 none "$1" && shift && exec "$@"'
CONFIG = """
[pools.chat]
model = "{model}"
engine = "openai"
engine_model = "scripted"
urls = ["{url}"]

[gateway]
workers = 1

[books]
slots_max = 256

{more}
"""

SQL = """
import json, sqlite3, sys
tables = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
for statement in sys.argv[2:]:
    rows = tables.execute(statement).fetchall()
print(json.dumps(rows), flush=True)
sys.stdin.read()
"""


class Reply(NamedTuple):
    """An answer; 0: there was none."""

    status: int
    body: bytes

    @property
    def code(self) -> str:
        """Of an error; empty: it is none."""
        error = self.json.get("error") if self.body else None
        return str(error["code"]) if error else ""

    @property
    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    def __str__(self) -> str:
        return (f"{self.status} `{self.code}`" if self.code else str(self.status)) if self.status else "no answer"


class Gateway:
    """One gateway with its key, its disk and its processes."""

    def __init__(self, serve: ServeProcess, state: Path) -> None:
        self.serve = serve
        self._state = state
        self.key = ""
        self.project = ""
        self.answered = 0  # requests with status 200
        self._heard = 0

    @property
    def state(self) -> Path:
        """Its state folder, seen through its own mounts."""
        return Path(f"/proc/{self.serve.process.pid}/root{self._state}/heterodyne")

    @property
    def folder(self) -> Path:
        """What its state folder is called by itself."""
        return self._state

    @property
    def worker(self) -> int:
        return self.serve.pid_of("worker-0")

    def ask(self, key: str | None = None, *, content: str = "hi", timeout_s: float = 30.0) -> Reply:
        """One chat completion."""
        body = {"model": MODEL, "messages": [{"role": "user", "content": content}], "max_tokens": 5}
        reply = self._fetch(f"{self.serve.url}/v1/chat/completions", body, key or self.key, timeout_s)
        self.answered += reply.status == 200
        return reply

    def admin(self, path: str, body: object = None, timeout_s: float = 30.0) -> Reply:
        """A question or, with a body, a change."""
        return self._fetch(f"{self.serve.admin_url}/admin/{path}", body, "", timeout_s)

    def create_key(self, project: str, timeout_s: float = 30.0) -> Reply:
        return self.admin("keys", {"project": project}, timeout_s)

    def issue(self, project: str, **limits: int) -> str:
        """A project and a key of it; its secret."""
        organisation = project.partition("/")[0]
        self.admin("organisations", {"id": organisation})
        created = self.admin("projects", {"id": project, "limits": limits})
        assert created.status < 300, created
        issued = self.create_key(project)
        assert issued.status < 300, issued
        return str(issued.json["secret"])

    def metric(self, name: str) -> float:
        """The sum of its lines."""
        page = self._fetch(f"{self.serve.url}/metrics", None, self.key, 30.0).body.decode()
        lines = [line for line in page.splitlines() if line.startswith((name + "{", name + " "))]
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    def said(self, *events: str) -> bool:
        """Whether the log has each of these events since `begin`."""
        return set(events) <= {str(one["event"]) for one in self.serve.events()[self._heard :]}

    def begin(self) -> None:
        """Another case: what was said before it is of no interest."""
        self._heard = len(self.serve.events())

    def booked(self) -> int:
        """How many requests the books have that were answered whole."""
        return int(
            self.sql("SELECT COALESCE(SUM(records - errors), 0) FROM usage_block_index WHERE project = ''")[0][0]
        )

    def sql(self, *statements: str) -> list[list[Any]]:
        """What another process, such as a backup or a newer gateway, does to the database; the rows of the last one."""
        with self.sql_process(*statements) as other:
            said, _ = other.communicate(timeout=60)
        assert other.returncode == 0
        rows: list[list[Any]] = json.loads(said)
        return rows

    def sql_process(self, *statements: str) -> "subprocess.Popen[bytes]":
        """The same, which holds what it has until its standard input ends."""
        command = (sys.executable, "-c", SQL, f"{self._state}/heterodyne/heterodyne.db", *statements)
        return subprocess.Popen((*self._enter(), *command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def wait(self, is_so: Callable[[], bool], what: str) -> None:
        """Until it is so, by itself."""
        wait_until(is_so, f"{what}\n{self.serve.log[-3000:]}")

    def wait_well(self) -> None:
        """Until requests and changes succeed, and every process is there."""

        def is_well() -> bool:
            return self.ask().status == 200 and self.create_key(self.project).status < 300 and self._views()

        self.wait(is_well, "the gateway is well again")
        assert self.serve.process.poll() is None

    def _views(self) -> bool:
        """Whether the supervisor hears of its workers."""
        workers = self.admin("fleet").json.get("workers", [])
        return bool(workers) and all(one["seen_ago_s"] is not None and one["seen_ago_s"] < 5 for one in workers)

    def nsenter(self, *command: str) -> None:
        """A command among its mounts."""
        subprocess.run((*self._enter(), *command), check=True, timeout=20)

    def _enter(self) -> tuple[str, ...]:
        user = () if os.geteuid() == 0 else ("-U", "--preserve-credentials")
        return ("nsenter", "-t", str(self.serve.process.pid), *user, "-m")

    @staticmethod
    def _fetch(url: str, body: object, key: str, timeout_s: float) -> Reply:
        headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=timeout_s) as answer:
                return Reply(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            return Reply(error.code, error.read())
        except (OSError, urllib.error.URLError):
            return Reply(0, b"")


def wait_until(is_so: Callable[[], bool], what: str, within_s: float = WITHIN_S) -> None:
    until_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until_s, f"not within {within_s:g} s: {what}"
        time.sleep(0.05)


def mounting() -> tuple[str, ...]:
    """How to start something among mounts of its own; skips where that is not allowed."""
    ways = (("unshare", "-m"),) if os.geteuid() == 0 else (("unshare", "-rm"),)
    for way in ways:
        if shutil.which(way[0]) and subprocess.run((*way, "true"), capture_output=True, check=False).returncode == 0:
            return way
    pytest.skip("no mounts of our own are allowed here (unshare -m), and the machine's disk is not to be filled")


@contextmanager
def gateway(*, is_mounted: bool = True, more: str = "", **environment: str) -> Iterator[Gateway]:
    """One that serves a key of a project; its state is on a small disk of its own where it `is_mounted`."""
    with ExitStack() as stack:
        # Not the test's own folder: the path of a unix socket has to be short.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True)))
        state, temporary = folder / "state", folder / "tmp"
        state.mkdir()
        temporary.mkdir()
        engine = stack.enter_context(in_thread(ScriptedEngine(behaviours.answer())))
        launcher = (*mounting(), "sh", "-c", MOUNT % STATE_MIB, "sh", str(state)) if is_mounted else ()
        serve = stack.enter_context(
            ServeProcess(
                folder,
                config=CONFIG.format(model=MODEL, url=engine.url, more=more),
                environment={"XDG_STATE_HOME": str(state), "TMPDIR": str(temporary), **environment},
                launcher=launcher,
            )
        )
        serve.wait_ready()
        one = Gateway(serve, state)
        one.project = "chaos/steady"
        one.key = one.issue(one.project)
        one.wait_well()
        yield one
        assert serve.stop(within_s=60) == 0, serve.log[-3000:]


@contextmanager
def limited(pid: int, what: int, value: int) -> Iterator[None]:
    """A process with less of something, for a while."""
    before = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (value, before[1]))
    try:
        yield
    finally:
        try:
            resource.prlimit(pid, what, before)
        except ProcessLookupError:
            assert not Path(f"/proc/{pid}").exists()
