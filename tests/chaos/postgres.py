"""PostgreSQL that may be killed and started again; nobody else uses it in between."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.support.postgres_server import database, server

DEADLINE_S = 60.0


class MortalPostgres:
    """Empty, and running."""

    def __init__(self, server: Any, url: str) -> None:
        self._server = server
        self.url = url

    def kill(self) -> None:
        """As a crash would."""
        os.kill(self._server.get_pid(), signal.SIGKILL)

    def run(self, sql: str) -> None:
        """As an operator would."""
        name = urlsplit(self.url).path.lstrip("/")
        self._server.psql(f"\\connect {name}\n{sql};")

    def start(self) -> None:
        """Returns when it answers; what the dead one held may take a moment to be free."""
        until_s = time.monotonic() + DEADLINE_S
        while True:
            try:
                self._server.ensure_postgres_running()
                self._server.psql("SELECT 1;")
                break
            except (subprocess.SubprocessError, AssertionError, OSError):
                assert time.monotonic() < until_s, "PostgreSQL does not come back"
                time.sleep(0.2)


@contextmanager
def mortal_postgres() -> Iterator[MortalPostgres]:
    """The tests' own server, which is running again at the end, with a database of this one."""
    with database() as url:
        mortal = MortalPostgres(server(), url)
        try:
            yield mortal
        finally:
            mortal.start()
