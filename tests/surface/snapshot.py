"""What users see of one source tree, as lines to be compared: run in that tree, by its own commands."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.surface.openapi import component_names, operations

Lines = tuple[str, ...]

READY_TIMEOUT_S = 60.0
COMMAND_TIMEOUT_S = 300.0
REFERENCE = ("settings.md", "metrics.md", "errors.md")
SETTINGS = """\
[gateway]
port = 0
[console]
port = 0
[pools.pool]
model = "model"
urls = ["http://127.0.0.1:9"]
"""
ASKED = ("/v1/models", "/health", "/health/ready", "/metrics", "/openapi.json", "/nowhere")


def snapshot(tree: Path, state: Path) -> dict[str, Lines]:
    """Name of a surface to its lines."""
    _write_reference(tree)
    found = {name: _reference_lines(tree, name) for name in REFERENCE}
    found["command help"] = tuple(_help(tree))
    found["headers in the source"] = _header_names(tree)
    found["alert rules"] = _printed(tree, "observability", "rules")
    found |= _dashboards(tree, state)
    gateway = json.loads((tree / "docs" / "reference" / "openapi.json").read_text(encoding="utf-8"))
    found["gateway OpenAPI"] = operations(gateway)
    found["gateway OpenAPI: component names"] = component_names(gateway)
    return found | _served(tree, state)


def _run(tree: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env=_environment(tree),
        capture_output=True,
        text=True,
        timeout=COMMAND_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{tree}: {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def _environment(tree: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HETERODYNE_", "PYTEST"))}
    return {**kept, "PYTHONPATH": str(tree / "src"), "COLUMNS": "100", "NO_COLOR": "1"}


def _printed(tree: Path, *words: str) -> Lines:
    return tuple(_run(tree, "-m", "heterodyne", *words).splitlines())


def _write_reference(tree: Path) -> None:
    """The reference pages as the tree's own `make docs` writes them."""
    [module] = re.findall(
        r"^docs:.*\n\t.* -m (\S+) docs$", (tree / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    _run(tree, "-m", module, "docs")


def _reference_lines(tree: Path, name: str) -> Lines:
    return tuple((tree / "docs" / "reference" / name).read_text(encoding="utf-8").splitlines())


def _help(tree: Path) -> Iterator[str]:
    """`--help` of every command that the reference has a section of."""
    page = (tree / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    for command in re.findall(r"^## heterodyne ?(.*)$", page, re.MULTILINE):
        for line in _printed(tree, *command.split(), "--help"):
            yield f"{command}: {line}"


def _header_names(tree: Path) -> Lines:
    found = set()
    for path in (tree / "src").rglob("*.py"):
        found |= set(re.findall(r"\bx-[a-z][a-z-]*[a-z]\b", path.read_text(encoding="utf-8")))
    return tuple(sorted(found))


def _dashboards(tree: Path, state: Path) -> dict[str, Lines]:
    folder = state / "dashboards"
    folder.mkdir()
    _run(tree, "-m", "heterodyne", "observability", "dashboards", "--write", str(folder))
    return {
        f"dashboard {path.name}": tuple(path.read_text(encoding="utf-8").splitlines())
        for path in sorted(folder.iterdir())
    }


def _served(tree: Path, state: Path) -> dict[str, Lines]:
    """What a running gateway answers: the admin API's description, and the names of response headers."""
    with _serving(tree, state) as (gateway_url, admin_url):
        admin = json.loads(_ask(f"{admin_url}/admin/openapi.json")[2])
        answers = [(path, *_ask(gateway_url + path)) for path in ASKED]
    return {
        "admin OpenAPI": operations(admin),
        "admin OpenAPI: component names": component_names(admin),
        "response headers": tuple(f"{path} {status} {' '.join(names)}" for path, status, names, _ in answers),
    }


def _ask(url: str) -> tuple[int, list[str], bytes]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, sorted(name.lower() for name in answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, sorted(name.lower() for name in error.headers), b""


@contextlib.contextmanager
def _serving(tree: Path, state: Path) -> Iterator[tuple[str, str]]:
    """A gateway without an engine that answers; the addresses of its two ports."""
    config, log = state / "heterodyne.toml", state / "serve.log"
    config.write_text(SETTINGS, encoding="utf-8")
    environment = {**_environment(tree), "XDG_STATE_HOME": str(state / "state")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "heterodyne", "--config", str(config), "serve"],
            cwd=tree,
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        yield _wait_line(log, r"ready on (\S+)"), _wait_line(log, r"console: (\S+)")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(READY_TIMEOUT_S)


def _wait_line(log: Path, pattern: str) -> str:
    until = time.monotonic() + READY_TIMEOUT_S
    while not (found := re.search(pattern, log.read_text(encoding="utf-8"))):
        if time.monotonic() > until:
            raise RuntimeError(f"no {pattern!r}:\n{log.read_text(encoding='utf-8')}")
        time.sleep(0.1)
    return found[1]
