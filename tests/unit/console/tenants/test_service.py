"""Tenants and keys over the admin API, kept in a real file."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.applications import Starlette
from structlog.testing import capture_logs

from heterodyne.console.app import admin_app
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.fleet.service import FleetService
from heterodyne.console.services import StoreServices
from heterodyne.console.settings import ConsoleSettings
from heterodyne.console.tenants.service import TenantService
from heterodyne.ports.tenant_changes import TenantChange, TenantChangeKind
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.tenants import SqliteTenants
from tests.support.asgi import AsgiAnswer, ask
from tests.support.change_logs import ListedChanges

KEYED = ConsoleSettings(operator_keys_sha256=(hashlib.sha256(b"secret").hexdigest(),))
JSON = {"content-type": "application/json"}
CHANGES = (
    "organisations",
    "organisations/update",
    "organisations/disable",
    "organisations/enable",
    "projects",
    "projects/update",
    "projects/disable",
    "projects/enable",
    "keys",
    "keys/update",
    "keys/rotate",
    "keys/revoke",
)


class NoDecisions:
    """A fleet nobody asks about here."""

    def __getattr__(self, name: str) -> "NoDecisions":
        return self


class Api:
    """The admin API, and what it has published."""

    def __init__(self, database: SqliteDatabase, settings: ConsoleSettings) -> None:
        self.store = store = SqliteTenants(database)
        self.published: list[TenantChange] = []
        self.versions_when_published: list[int] = []
        self.is_applied = True
        self.log = ListedChanges()
        recorder = ChangeRecorder(self.log)
        services = StoreServices(
            tenants=TenantService(store, self._publish, recorder), recorder=recorder, books=SqliteBooks(database)
        )
        self.app: Starlette = admin_app(settings, cast(FleetService, NoDecisions()), services)

    async def post(self, path: str, body: object, **headers: str) -> AsgiAnswer:
        return await ask(
            self.app, "POST", f"/admin/{path}", headers={**JSON, **headers}, pieces=[json.dumps(body).encode()]
        )

    async def get(self, path: str, **headers: str) -> AsgiAnswer:
        return await ask(self.app, "GET", f"/admin/{path}", headers=headers)

    async def done(self, path: str, body: object) -> Any:
        answer = await self.post(path, body)
        assert answer.status == 200, answer.body
        return answer.json()

    async def _publish(self, change: TenantChange) -> bool:
        self.published.append(change)
        self.versions_when_published.append(await self.store.version())
        return self.is_applied


@asynccontextmanager
async def api(folder: Path, settings: ConsoleSettings | None = None) -> AsyncIterator[Api]:
    database = await SqliteDatabase.open(folder / "tenants.db")
    try:
        yield Api(database, settings or ConsoleSettings())
    finally:
        await database.close()


async def acme(one: Api) -> None:
    await one.done("organisations", {"id": "acme"})
    await one.done("projects", {"id": "acme/search"})


async def test_a_tenant_is_made_shown_changed_and_disabled(tmp_path: Path) -> None:
    async with api(tmp_path) as one:
        made = await one.done("organisations", {"id": "acme", "limits": {"usd_per_month": 100}})
        assert made == {
            "version": 1,
            "is_applied": True,
            "organisation": {"id": "acme", "limits": {"usd_per_month": 100.0}},
        }
        await one.done("projects", {"id": "acme/search", "tier": "gold", "scopes": {"models": ["chat*"]}})
        await one.done("projects/update", {"id": "acme/search", "weight": 4})
        shown = (await one.get("projects/acme/search")).json()
        assert (shown["tier"], shown["weight"], shown["scopes"]) == ("gold", 4.0, {"models": ["chat*"]})
        assert (await one.done("projects/disable", {"id": "acme/search"}))["project"]["is_disabled"] is True
        await one.done("projects/enable", {"id": "acme/search"})
        await one.done("organisations/disable", {"id": "acme"})
        assert (await one.get("organisations/acme")).json()["is_disabled"] is True
        assert [row["id"] for row in (await one.get("organisations")).json()["organisations"]] == ["acme"]
        assert [row["id"] for row in (await one.get("projects?organisation=acme")).json()["projects"]] == [
            "acme/search"
        ]


async def test_a_secret_is_in_the_creating_answer_and_nowhere_else(tmp_path: Path) -> None:
    async with api(tmp_path) as one:
        await acme(one)
        with capture_logs() as logs:
            made = await one.done("keys", {"project": "acme/search", "name": "ci"})
            rotated = await one.done("keys/rotate", {"id": made["key"]["id"], "overlap_s": 0})
            pages = [await one.get("keys?with_spent=true"), await one.get(f"keys/{made['key']['id']}")]
            await one.done("keys/revoke", {"id": rotated["key"]["id"]})
        assert rotated["replaces"]["replaced_by"] == rotated["key"]["id"]
        for secret in (made["secret"], rotated["secret"]):
            digest = hashlib.sha256(secret.encode()).hexdigest()
            everything = b"".join(page.body for page in pages).decode() + repr(logs) + repr(one.published)
            assert secret not in everything
            assert digest not in everything


async def test_a_change_is_answered_after_it_is_stored_and_published(tmp_path: Path) -> None:
    async with api(tmp_path) as one:
        await acme(one)
        one.is_applied = False
        late = await one.done("keys", {"project": "acme/search"})
        assert late["is_applied"] is False
        assert late["secret"], "a late worker does not cost the secret"
        assert one.versions_when_published == [1, 2, 3]
        assert [change.version for change in one.published] == [1, 2, 3]
        assert [change.kind for change in one.published] == [
            TenantChangeKind.ORGANISATION_CREATED,
            TenantChangeKind.PROJECT_CREATED,
            TenantChangeKind.KEY_CREATED,
        ]


async def test_a_refused_change_is_not_published(tmp_path: Path) -> None:
    async with api(tmp_path) as one:
        await acme(one)
        again = await one.post("organisations", {"id": "acme"})
        assert (again.status, again.json()["error"]["code"]) == (409, "already_exists")
        assert len(one.published) == 2
        made = await one.done("keys", {"project": "acme/search"})
        await one.done("keys/revoke", {"id": made["key"]["id"]})
        spent = await one.post("keys/rotate", {"id": made["key"]["id"]})
        assert (spent.status, spent.json()["error"]["code"]) == (409, "key_spent")


async def test_a_name_nobody_has_is_answered_with_the_nearest(tmp_path: Path) -> None:
    async with api(tmp_path) as one:
        await acme(one)
        for answer in (
            await one.post("keys", {"project": "acme/serach"}),
            await one.get("projects/acme/serach"),
            await one.get("keys?project=acme/serach"),
        ):
            assert answer.status == 404
            assert 'did you mean "acme/search"' in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("organisations", {"id": "acme2", "is_admin": True}, "unknown field `is_admin`"),
        ("organisations", {"id": "Acme"}, "small letters"),
        ("organisations", {"id": "acme2", "limits": {"request_per_minute": 5}}, "unknown field `request_per_minute`"),
        ("organisations", {"id": "acme2", "limits": {"requests_per_minute": -5}}, "$.limits.requests_per_minute"),
        ("projects", {"id": "acme/x", "tier": "platinum"}, "$.tier"),
        ("projects", {"id": "acme/x", "weight": 1e300}, "$.weight"),
        ("projects", {"id": "acme/x", "salt": "00"}, "unknown field `salt`"),
        ("keys", {"project": "acme/search", "secret_sha256": "00"}, "unknown field `secret_sha256`"),
        ("keys", {"project": "acme/search", "secret": "mine"}, "unknown field `secret`"),
        ("keys", {"project": "acme/search", "expires_at": 5}, "has passed"),
        ("keys/rotate", {"id": "key_x", "overlap_s": -1}, "$.overlap_s"),
        ("keys/update", {"id": "key_x", "project": "acme/other"}, "unknown field `project`"),
        ("keys/revoke", {}, "missing required field `id`"),
    ],
)
async def test_what_does_not_belong_in_a_body_is_refused(tmp_path: Path, path: str, body: object, words: str) -> None:
    async with api(tmp_path) as one:
        await acme(one)
        answer = await one.post(path, body)
        assert answer.status == 400
        assert words in answer.json()["error"]["message"]
        assert len(one.published) == 2


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=1001", "with_spend=true", "with_spent=1", "after=%00"])
async def test_a_query_that_means_nothing_is_refused(tmp_path: Path, query: str) -> None:
    async with api(tmp_path) as one:
        assert (await one.get(f"keys?{query}")).status == 400


async def test_long_lists_come_in_parts(tmp_path: Path) -> None:
    async with api(tmp_path) as one:
        for name in ("a", "b", "c"):
            await one.done("organisations", {"id": name})
        first = (await one.get("organisations?limit=2")).json()
        assert ([row["id"] for row in first["organisations"]], first["next_after"]) == (["a", "b"], "b")
        rest = (await one.get("organisations?limit=2&after=b")).json()
        assert ([row["id"] for row in rest["organisations"]], rest["next_after"]) == (["c"], None)


async def test_nobody_sees_or_changes_tenants_without_an_operator_key(tmp_path: Path) -> None:
    async with api(tmp_path, KEYED) as one:
        for path in CHANGES:
            for headers in ({}, {"authorization": "Bearer wrong"}):
                assert (await one.post(path, {"id": "acme"}, **headers)).status == 401
        for path in ("organisations", "organisations/acme", "projects", "projects/a/b", "keys", "keys/key_x"):
            assert (await one.get(path)).status == 401
        assert one.published == []
        issued = await one.post("organisations", {"id": "acme"}, authorization="Bearer secret")
        assert issued.status == 200
        assert one.published[0].who.startswith("key ")


async def test_a_callers_key_opens_nothing_here(tmp_path: Path) -> None:
    async with api(tmp_path, KEYED) as one:
        operator = {"authorization": "Bearer secret"}
        await one.post("organisations", {"id": "acme"}, **operator)
        await one.post("projects", {"id": "acme/search"}, **operator)
        secret = (await one.post("keys", {"project": "acme/search"}, **operator)).json()["secret"]
        assert (await one.get("keys", authorization=f"Bearer {secret}")).status == 401


async def test_a_form_of_a_web_page_changes_nothing(tmp_path: Path) -> None:
    async with api(tmp_path) as one:
        answer = await one.post("organisations", {"id": "acme"}, **{"content-type": "text/plain"})
        assert answer.status == 415
        assert one.published == []


async def test_without_a_store_there_are_no_such_paths() -> None:
    app = admin_app(ConsoleSettings(), cast(FleetService, NoDecisions()))
    assert (await ask(app, "GET", "/admin/keys")).status == 404


@pytest.mark.parametrize(
    "field", ["who", "is_admin", "operator", "secret", "secret_sha256", "salt", "version", "scope"]
)
async def test_no_field_of_a_body_says_who_one_is_or_brings_a_secret(tmp_path: Path, field: str) -> None:
    async with api(tmp_path) as one:
        await acme(one)
        key = (await one.done("keys", {"project": "acme/search"}))["key"]["id"]
        version, written = await one.store.version(), len(one.log.entries)
        for path in CHANGES:
            base = (
                {"project": "acme/search"} if path == "keys" else {"id": key if path.startswith("keys") else "acme/new"}
            )
            answer = await one.post(path, {**base, field: "root"})
            assert (answer.status, answer.json()["error"]["code"]) == (400, "invalid_value"), path
        assert (await one.store.version(), len(one.log.entries)) == (version, written)


async def test_a_change_is_in_the_audit_log_with_what_was_before_and_after_and_without_secrets(tmp_path: Path) -> None:
    async with api(tmp_path) as one:
        await acme(one)
        made = await one.done("keys", {"project": "acme/search", "name": "ci"})
        rotated = await one.done("keys/rotate", {"id": made["key"]["id"], "overlap_s": 0})
        await one.post("organisations", {"id": "acme"})
        assert one.log.outcomes() == [
            ("organisations.create", ""),
            ("projects.create", ""),
            ("keys.create", ""),
            ("keys.rotate", ""),
            ("organisations.create", "already_exists"),
        ]
        entry = one.log.entries[-3]
        assert (entry.who, entry.subject) == ("local", made["key"]["id"])
        assert json.loads(entry.before or "")["id"] == made["key"]["id"]
        assert json.loads(entry.after or "")["successor"]["id"] == rotated["key"]["id"]
        for secret in (made["secret"], rotated["secret"]):
            assert secret not in repr(one.log.entries)
            assert hashlib.sha256(secret.encode()).hexdigest() not in repr(one.log.entries)


async def test_what_cannot_be_audited_is_refused_and_not_stored(tmp_path: Path) -> None:
    async with api(tmp_path) as one:
        one.log.room = 0
        answer = await one.post("organisations", {"id": "acme"})
        assert (answer.status, answer.json()["error"]["code"]) == (503, "store_unavailable")
        assert (await one.store.version(), one.published) == (0, [])
        one.log.room = 1
        half = await one.post("organisations", {"id": "acme"})
        assert half.status == 503
        assert "The change was made" in half.json()["error"]["message"]
        assert (await one.store.version(), one.log.outcomes()) == (1, [])
