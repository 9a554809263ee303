"""`tenants` and `keys`: against a real admin API over HTTP, and on the store itself where no gateway listens."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import click
import pytest
from click.testing import CliRunner, Result
from structlog.testing import capture_logs

from heterodyne.cli.audit.command import audit
from heterodyne.cli.invocation import Invocation
from heterodyne.cli.keys.command import keys
from heterodyne.cli.tenants.command import tenants
from heterodyne.cli.tenants.options import duration, with_limits, with_scopes
from heterodyne.cli.tenants.tenant_access import terminal_user
from heterodyne.console.app import admin_app
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.fleet.service import FleetService
from heterodyne.console.guard import Guard
from heterodyne.console.server import AdminServer
from heterodyne.console.services import StoreServices
from heterodyne.console.settings import ConsoleSettings
from heterodyne.console.tenants.service import TenantService
from heterodyne.domain.errors import HeterodyneError, UnknownName
from heterodyne.domain.operation import Operation
from heterodyne.domain.tenant import Limits, Scopes
from heterodyne.ports.tenant_changes import TenantChange
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.tenants import SqliteTenants
from tests.support.change_logs import ListedChanges

Say = Callable[..., Result]
GROUPS = {"tenants": tenants, "keys": keys}


class NoFleet:
    def __getattr__(self, name: str) -> "NoFleet":
        return self


async def _tell_nobody(_: TenantChange) -> bool:
    return True


@pytest.fixture
def admin_url(tmp_path: Path) -> Iterator[str]:
    """An admin API in a thread of its own, with its own loop."""
    listener = socket.create_server(("127.0.0.1", 0))
    started = threading.Event()
    leaving: list[Callable[[], object]] = []

    async def serve() -> None:
        database = await SqliteDatabase.open(tmp_path / "served.db")
        recorder = ChangeRecorder(ListedChanges())
        tenants = TenantService(SqliteTenants(database), _tell_nobody, recorder)
        services = StoreServices(tenants=tenants, recorder=recorder, books=SqliteBooks(database))
        app = admin_app(ConsoleSettings(), cast(FleetService, NoFleet()), services)
        server = AdminServer(app, listener, Guard.of(ConsoleSettings()))
        loop = asyncio.get_running_loop()
        leaving.append(lambda: loop.call_soon_threadsafe(server.leave))
        started.set()
        await server.run()
        await database.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert started.wait(10)
    with capture_logs():  # in a gateway they go elsewhere than the output of a command
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    leaving[0]()
    thread.join(10)
    assert not thread.is_alive()


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Runs a command of either group, with a home of its own."""
    monkeypatch.chdir(tmp_path)
    for name, value in (("HOME", str(tmp_path)), ("XDG_STATE_HOME", str(tmp_path / "state"))):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("HETERODYNE_CONFIG", raising=False)

    def run(group: str, *words: str) -> Result:
        return CliRunner().invoke(GROUPS[group], list(words), obj=Invocation())

    return run


def done(result: Result) -> Result:
    assert result.exit_code == 0, (result.output, result.exception)
    return result


@pytest.mark.parametrize("is_served", [True, False])
def test_whoever_makes_the_first_key_is_told_that_it_locks_out_keyless_clients(
    say: Say, admin_url: str, is_served: bool
) -> None:
    at = ("--url", admin_url) if is_served else ()
    done(say("tenants", "create", "acme", *at))
    done(say("tenants", "create", "acme/search", *at))
    first = done(say("keys", "create", "acme/search", *at))
    assert "This is the first key: from now on clients that bring none are refused" in first.stderr
    second = json.loads(done(say("keys", "create", "acme/search", "--json", *at)).stdout)
    assert second["note"] == ""


def test_a_tenant_and_its_keys_over_the_admin_api(say: Say, admin_url: str) -> None:
    at = ("--url", admin_url)
    done(say("tenants", "create", "acme", "--limit", "usd_per_month=500", *at))
    done(say("tenants", "create", "acme/search", "--tier", "gold", "--scope", "models=chat,small-*", *at))
    done(say("tenants", "update", "acme/search", "--weight", "2", "--limit", "requests_per_minute=5", *at))
    table = done(say("tenants", "list", *at)).stdout.splitlines()
    assert table[1].split()[:2] == ["acme", "enabled"]
    assert table[2].split() == [
        "acme/search", "enabled", "gold", "2", "requests_per_minute=5", "models=chat,small-*",
    ]  # fmt: skip
    issued = done(say("keys", "create", "acme/search", "--name", "ci", "--expires-in", "90d", *at))
    secret = issued.stdout.strip()
    assert secret.startswith("hd-"), "the secret alone, so that a script can take it"
    [key] = json.loads(done(say("keys", "list", "--json", *at)).stdout)
    assert (key["name"], key["project"]) == ("ci", "acme/search")
    rotated = json.loads(done(say("keys", "rotate", key["id"], "--overlap", "1h", "--json", *at)).stdout)
    assert rotated["replaces"]["expires_at"] < key["expires_at"] == rotated["key"]["expires_at"]
    done(say("keys", "update", rotated["key"]["id"], "--tier", "bronze", "--never-expires", *at))
    assert " bronze " in done(say("keys", "show", rotated["key"]["id"], *at)).stdout
    done(say("keys", "revoke", rotated["key"]["id"], *at))
    states = [line.split() for line in done(say("keys", "list", "--all", *at)).stdout.splitlines()[1:]]
    assert {row[0]: row[3] for row in states} == {key["id"]: "replaced", rotated["key"]["id"]: "revoked"}
    done(say("tenants", "disable", "acme/search", *at))
    assert json.loads(done(say("tenants", "show", "acme/search", "--json", *at)).stdout)["is_disabled"] is True
    done(say("tenants", "enable", "acme/search", *at))
    assert "is_disabled" not in json.loads(done(say("tenants", "show", "acme/search", "--json", *at)).stdout)


def test_a_name_nobody_has_ends_with_the_nearest(say: Say, admin_url: str) -> None:
    done(say("tenants", "create", "acme", "--url", admin_url))
    result = say("tenants", "show", "acne", "--url", admin_url)
    assert isinstance(result.exception, UnknownName)
    assert 'did you mean "acme"' in str(result.exception)


def test_without_a_gateway_the_store_itself_is_changed_and_that_is_said(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = "http://127.0.0.1:1"  # where nobody listens
    for group in GROUPS.values():
        for command in group.commands.values():
            for option in command.params:
                if option.name == "url":
                    monkeypatch.setattr(option, "default", free)
    first = done(say("tenants", "create", "acme"))
    assert first.stderr.count("working on the store itself") == 1
    done(say("tenants", "create", "acme/search"))
    secret = done(say("keys", "create", "acme/search")).stdout.strip()
    assert (tmp_path / "state" / "heterodyne" / "heterodyne.db").exists()
    assert len(json.loads(done(say("keys", "list", "--json")).stdout)) == 1
    assert secret not in done(say("keys", "list")).output
    shown = done(CliRunner().invoke(audit, ["show", "--changes", "--json"], obj=Invocation())).stdout
    entries = [one["entry"] for one in json.loads(shown)]
    assert [(entry["what"], entry.get("outcome")) for entry in entries] == [
        (what, outcome)
        for what in ("organisations.create", "projects.create", "keys.create")
        for outcome in ("asked", None)
    ]
    assert {entry["who"] for entry in entries} == {terminal_user()}
    assert secret not in shown


def test_what_cannot_be_audited_is_not_changed_at_the_store_either(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no-folder").write_text("")
    monkeypatch.setenv("HETERODYNE_AUDIT__DIR", str(tmp_path / "no-folder" / "audit"))
    for option in tenants.commands["create"].params:
        if option.name == "url":
            monkeypatch.setattr(option, "default", "http://127.0.0.1:1")
    result = say("tenants", "create", "acme")
    assert isinstance(result.exception, HeterodyneError)
    assert "no-folder" in str(result.exception)
    monkeypatch.delenv("HETERODYNE_AUDIT__DIR")
    done(say("tenants", "create", "acme"))


def test_an_address_that_was_named_is_not_replaced_by_the_store(say: Say, tmp_path: Path) -> None:
    result = say("tenants", "list", "--url", "http://127.0.0.1:1")
    assert isinstance(result.exception, HeterodyneError)
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("create", "acme", "--tier", "gold"),
        ("update", "acme"),
        ("create", "acme", "--limit", "requests_per_minute"),
        ("create", "acme", "--limit", "requests_per_minute=-1"),
        ("create", "acme", "--limit", "requests_per_minute=x"),
        ("create", "acme/x", "--tier", "platinum"),
    ],
)
def test_words_that_mean_nothing_are_misuse(say: Say, words: tuple[str, ...]) -> None:
    result = say("tenants", *words, "--url", "http://127.0.0.1:1")
    assert result.exit_code == 2
    assert "Error" in result.output


def test_a_limit_nobody_knows_is_answered_with_the_nearest(say: Say) -> None:
    result = say("tenants", "create", "acme", "--limit", "request_per_minute=5")
    assert "requests_per_minute" in str(result.exception)


def test_limits_and_scopes_are_changed_one_by_one_and_taken_off_with_nothing() -> None:
    limits = with_limits(Limits(requests_per_day=5), ("tokens_per_day=10", "usd_per_day=0.5"))
    assert limits == Limits(requests_per_day=5, tokens_per_day=10, usd_per_day=0.5)
    assert with_limits(limits, ("requests_per_day=",)) == Limits(tokens_per_day=10, usd_per_day=0.5)
    scopes = with_scopes(Scopes(), ("models=a, b*", "operations=chat,embedding", "output_tokens_max=7"))
    operations = (Operation.CHAT, Operation.EMBEDDING)
    assert scopes == Scopes(models=("a", "b*"), operations=operations, output_tokens_max=7)
    assert with_scopes(scopes, ("models=", "operations=")) == Scopes(output_tokens_max=7)
    with pytest.raises(click.UsageError, match="operations"):
        with_scopes(Scopes(), ("operations=sing",))


@pytest.mark.parametrize(("said", "seconds"), [("0", 0.0), ("90s", 90.0), ("1.5h", 5400.0), ("30d", 2592000.0)])
def test_lengths_of_time(said: str, seconds: float) -> None:
    assert duration(said) == seconds


@pytest.mark.parametrize("said", ["", "1", "-1s", "1 d", "d", "1y", "infs", "1e9s"])
def test_what_is_no_length_of_time(said: str) -> None:
    with pytest.raises(click.BadParameter):
        duration(said)


@pytest.mark.parametrize("group", GROUPS.values(), ids=list(GROUPS))
def test_every_command_has_an_example(group: click.Group) -> None:
    for name, command in group.commands.items():
        assert f"heterodyne {group.name} {name}" in (command.help or ""), name
