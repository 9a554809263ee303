"""What the log may say."""

import json
import os
import socket
import subprocess
import sys

SPEAK = """
from heterodyne.telemetry import log
from heterodyne.telemetry.settings import TelemetrySettings

log.configure(TelemetrySettings(log_format={format!r}))
speaker = log.get("test")
speaker.warning("away", url="redis://:s3cret@h:1/0", problems=("no https://h/x?sig=s3cret",), count=3)
try:
    raise ValueError("cannot connect to postgresql://ada:s3cret@db/books")
except ValueError as error:
    speaker.error("failed", exc_info=error)
"""


def spoken(format: str) -> str:
    """In a process of its own: logging is set up once for each."""
    return subprocess.run(
        [sys.executable, "-c", SPEAK.format(format=format)], capture_output=True, text=True, timeout=60, check=True
    ).stderr


def test_no_password_inside_a_url_is_logged() -> None:
    for format in ("json", "text"):
        said = spoken(format)
        assert "s3cret" not in said
        assert "postgresql://***@db/books" in said


def test_the_rest_is_logged_as_it_was() -> None:
    away = json.loads(spoken("json").splitlines()[0])
    assert (away["url"], away["problems"], away["count"]) == (
        "redis://***@h:1/0",
        ["no https://h/x?sig=***"],
        3,
    )


def test_a_line_is_one_write_where_output_is_not_buffered_so_that_processes_may_share_a_log() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # keeps writes apart
    with ours, theirs:
        ours.settimeout(60)
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-c", SPEAK.format(format="json")]
        subprocess.run(command, stderr=theirs, env=environment, timeout=60, check=True)
        for event in ("away", "failed"):
            line = ours.recv(65536)
            assert line.endswith(b"\n")
            assert json.loads(line)["event"] == event


def test_a_log_that_nobody_colours_does_not_load_what_draws_tables() -> None:
    script = "import sys; from heterodyne.telemetry import log; print('rich' in sys.modules); import rich.console"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"False\n"


def test_a_person_reads_the_traceback_of_what_failed() -> None:
    said = spoken("text")
    assert "Traceback (most recent call last)" in said
    assert "ValueError: cannot connect" in said
