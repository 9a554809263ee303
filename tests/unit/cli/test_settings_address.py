"""Every command that asks a gateway finds it by the settings, from wherever they come."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import click
import pytest

from heterodyne.cli.main import COMMANDS, cli

PAGE = json.dumps({"error": {"message": "seen", "code": "seen"}}).encode()
FLEET_WORDS = ("fleet", "status")


@pytest.fixture
def admin() -> Iterator[HTTPServer]:
    """Whoever answers here says that it was reached."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the standard library's name
            self.send_response(418)
            self.send_header("content-length", str(len(PAGE)))
            self.end_headers()
            self.wfile.write(PAGE)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(10)


COMMAND_WORDS = [
    ("fleet", "status"),
    ("fleet", "drain", "chat-0"),
    ("fleet", "reload"),
    ("tenants", "list"),
    ("tenants", "show", "acme"),
    ("tenants", "create", "acme"),
    ("keys", "list"),
    ("keys", "create", "acme/search"),
    ("usage",),
    ("usage", "idle"),
    ("usage", "export"),
    ("explain", "--model", "m"),
    ("explain", "--latest", "3"),
]


@pytest.mark.parametrize("words", COMMAND_WORDS, ids=" ".join)
def test_every_admin_command_asks_at_console_port(run, admin: HTTPServer, words: tuple[str, ...]) -> None:
    result = run("--set", f"console.port={admin.server_port}", *words)
    assert result.exit_code == 1
    assert "seen" in result.stderr


def test_the_file_and_the_environment_name_it_too(run, admin: HTTPServer, tmp_path: Path) -> None:
    assert "seen" in run(*FLEET_WORDS, env={"HETERODYNE_CONSOLE__PORT": str(admin.server_port)}).stderr
    (tmp_path / "heterodyne.toml").write_text(f'[console]\nhost = "0.0.0.0"\nport = {admin.server_port}\n')
    result = run(*FLEET_WORDS)
    assert "seen" in result.stderr, "also of settings that are refused: this door has no keys"


def test_a_url_goes_before_the_settings(run, admin: HTTPServer) -> None:
    assert (
        "seen" in run("--set", "console.port=9", *FLEET_WORDS, "--url", f"http://127.0.0.1:{admin.server_port}").stderr
    )


def test_a_port_that_the_system_chose_has_to_be_named(run) -> None:
    result = run("--set", "console.port=0", *FLEET_WORDS)
    assert result.exit_code == 1
    assert "give it as --url" in result.stderr


def test_nobody_who_answers_is_told_with_the_address_that_was_asked(run) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        port = unheard.getsockname()[1]
        assert f"http://127.0.0.1:{port}" in run("--set", f"console.port={port}", *FLEET_WORDS).stderr


def test_no_command_has_an_address_of_its_own() -> None:
    context = click.Context(cli)
    for path, command in commands(context, cli):
        for option in command.params:
            if option.name == "url":
                assert not isinstance(option.default, str), (
                    f"{path} asks at {option.default}, whatever the settings say"
                )


def commands(context: click.Context, group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(context, command, f"{path} {name}")


def test_the_walk_saw_every_command() -> None:
    assert {path.split()[0] for path, _ in commands(click.Context(cli), cli)} == set(COMMANDS)
