"""Who may ask the admin API for what, and how it answers."""

import hashlib
import json

import pytest

from heterodyne.console.app import admin_app
from heterodyne.console.errors import ChangeRefused
from heterodyne.console.fleet.forms import Addition, ReloadOrder, Selection
from heterodyne.console.fleet.pages import Changed, FleetPage, Reloaded
from heterodyne.console.guard import BODY_BYTES_MAX, QUESTION_BYTES_MAX
from heterodyne.console.settings import ConsoleSettings
from heterodyne.domain.nearest import unknown_name
from tests.support.admin_fleets import ScriptedDecisions
from tests.support.asgi import AsgiAnswer, ask
from tests.support.change_logs import ListedChanges
from tests.support.store_services import store_services

KEYED = ConsoleSettings(operator_keys_sha256=(hashlib.sha256(b"secret").hexdigest(),))
JSON = {"content-type": "application/json"}
CHANGES = ("drain", "undrain", "restart", "remove", "add")


class RecordingFleet:
    """Writes down what it is asked for."""

    def __init__(self) -> None:
        self.done: list[object] = []
        self.decisions = ScriptedDecisions()

    def page(self) -> FleetPage:
        return FleetPage(version=7, is_applied=True, workers=(), replicas=(), reload=None)

    async def drain(self, selection: Selection) -> Changed:
        if selection.replica == "chta-0":
            raise unknown_name("replica", selection.replica, ["chat-0"])
        return self._changed("drain", selection)

    async def undrain(self, selection: Selection) -> Changed:
        return self._changed("undrain", selection)

    async def restart(self, selection: Selection) -> Changed:
        raise ChangeRefused("not ours")

    async def remove(self, selection: Selection) -> Changed:
        raise RuntimeError("the secret of our mistake")

    async def add(self, addition: Addition) -> Changed:
        return self._changed("add", addition)

    async def reload(self, order: ReloadOrder) -> Reloaded:
        self.done.append("reload")
        return Reloaded(version=8, is_applied=True)

    def _changed(self, name: str, body: object) -> Changed:
        self.done.append((name, body))
        return Changed(version=8, replicas=("chat-0",), is_applied=True)


async def change(
    name: str,
    body: object,
    *,
    settings: ConsoleSettings | None = None,
    fleet: RecordingFleet | None = None,
    log: ListedChanges | None = None,
    **headers: str,
) -> AsgiAnswer:
    app = admin_app(settings or ConsoleSettings(), fleet or RecordingFleet(), store_services(log))
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    every = {**JSON, **{key.replace("_", "-"): value for key, value in headers.items()}}
    return await ask(app, "POST", f"/admin/fleet/{name}", headers=every, pieces=[content])


async def test_the_fleet_is_shown() -> None:
    answer = await ask(admin_app(ConsoleSettings(), RecordingFleet()), "GET", "/admin/fleet")
    assert (answer.status, answer.json()["version"]) == (200, 7)
    assert answer.headers["cache-control"] == "no-store"


async def test_changes_reach_the_desk_as_types() -> None:
    fleet = RecordingFleet()
    assert (await change("drain", {"pool": "chat"}, fleet=fleet)).status == 200
    assert (await change("add", {"pool": "chat", "url": "http://h:1"}, fleet=fleet)).status == 200
    reloaded = await ask(admin_app(ConsoleSettings(), fleet, store_services()), "POST", "/admin/reload", headers=JSON)
    assert reloaded.status == 200
    assert fleet.done == [
        ("drain", Selection(pool="chat")),
        ("add", Addition(pool="chat", url="http://h:1")),
        "reload",
    ]


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("authorization", [None, "Bearer wrong", "Basic secret", "Bearer", "secret"])
async def test_nobody_changes_anything_without_a_key(name: str, authorization: str | None) -> None:
    fleet = RecordingFleet()
    headers = {} if authorization is None else {"authorization": authorization}
    answer = await change(name, {"replica": "chat-0"}, settings=KEYED, fleet=fleet, **headers)
    assert (answer.status, answer.json()["error"]["code"]) == (401, "invalid_api_key")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert fleet.done == []


async def test_the_page_wants_a_key_and_health_does_not() -> None:
    app = admin_app(KEYED, RecordingFleet())
    assert (await ask(app, "GET", "/admin/fleet")).status == 401
    assert (await ask(app, "GET", "/admin/fleet", headers={"authorization": "Bearer secret"})).status == 200
    assert (await ask(app, "GET", "/health")).json() == {"status": "ok"}


async def test_another_spelling_of_a_path_is_no_way_around_the_key() -> None:
    app = admin_app(KEYED, RecordingFleet())
    for path in ("/admin/fleet/", "//admin/fleet", "/ADMIN/fleet", "/admin/../admin/fleet", "/health/../admin/fleet"):
        answer = await ask(app, "GET", path, headers={"host": "localhost"})
        assert answer.status in (307, 401, 404), path
        assert b"replicas" not in answer.body


async def test_a_keyless_api_answers_only_to_its_own_names() -> None:
    app = admin_app(ConsoleSettings(host_names=("ops.example",)), RecordingFleet())
    for host, status in (
        ("localhost:8081", 200),
        ("127.0.0.1", 200),
        ("ops.example", 200),
        ("rebound.example:8081", 421),
    ):
        assert (await ask(app, "GET", "/admin/fleet", headers={"host": host})).status == status
    refused = await change("drain", {"pool": "chat"}, host="rebound.example")
    assert "console.host_names" in refused.json()["error"]["message"]


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
async def test_what_a_web_page_can_send_unasked_changes_nothing(media_type: str) -> None:
    fleet = RecordingFleet()
    answer = await change("drain", {"pool": "chat"}, fleet=fleet, content_type=media_type)
    assert (answer.status, answer.json()["error"]["code"]) == (415, "unsupported_media_type")
    assert fleet.done == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid_json"),
        (b"[]", "invalid_value"),
        ({}, "invalid_value"),
        ({"replica": "a", "pool": "b"}, "invalid_value"),
        ({"replica": 1}, "invalid_value"),
        ({"replica": "a", "extra": 1}, "invalid_value"),
    ],
)
async def test_a_body_that_is_no_change_is_refused(body: object, code: str) -> None:
    answer = await change("drain", body)
    assert (answer.status, answer.json()["error"]["code"]) == (400, code)


async def test_a_large_body_is_not_read_to_its_end() -> None:
    app = admin_app(ConsoleSettings(), RecordingFleet(), store_services())
    pieces = [b" " * BODY_BYTES_MAX, b" ", b"never read"]
    answer = await ask(app, "POST", "/admin/fleet/drain", headers=JSON, pieces=pieces)
    assert (answer.status, answer.json()["error"]["code"]) == (413, "body_too_large")


async def test_errors_have_the_shape_and_the_status_of_their_kind() -> None:
    unknown = await change("drain", {"replica": "chta-0"})
    assert unknown.status == 404
    assert 'did you mean "chat-0"?' in unknown.json()["error"]["message"]
    refused = await change("restart", {"replica": "chat-0"})
    assert (refused.status, refused.json()["error"]["type"]) == (409, "invalid_request_error")
    ours = await change("remove", {"replica": "chat-0"})
    assert (ours.status, ours.json()["error"]["code"]) == (500, "internal_error")
    assert b"secret" not in ours.body


async def test_unknown_paths_and_methods_are_answered_in_the_same_shape() -> None:
    app = admin_app(ConsoleSettings(), RecordingFleet(), store_services())
    assert (await ask(app, "GET", "/nothing")).json()["error"]["code"] == "unknown_path"
    wrong = await ask(app, "GET", "/admin/reload")
    assert (wrong.status, wrong.json()["error"]["code"], wrong.headers["allow"]) == (405, "method_not_allowed", "POST")


async def test_a_question_reaches_the_desk_and_is_no_change() -> None:
    fleet = RecordingFleet()
    body = json.dumps({"model": "m", "policy": "cost", "slo_ttft_ms": 500, "class": "batch"}).encode()
    answer = await ask(admin_app(ConsoleSettings(), fleet), "POST", "/admin/explain", headers=JSON, pieces=[body])
    asked = answer.json()["asked"]
    assert (answer.status, asked["policy"], asked["slo_ttft_ms"], asked["urgency"]) == (200, "cost", 500.0, "batch")
    assert fleet.done == []


async def test_a_question_may_bring_a_prompt_longer_than_any_change() -> None:
    app = admin_app(ConsoleSettings(), RecordingFleet())
    body = json.dumps({"model": "m", "prompt": "x" * 10 * BODY_BYTES_MAX}).encode()
    answer = await ask(app, "POST", "/admin/explain", headers=JSON, pieces=[body[:1000], body[1000:]])
    assert answer.json()["asked"]["prompt_tokens"] == 10 * BODY_BYTES_MAX
    answer = await ask(app, "POST", "/admin/explain", headers=JSON, pieces=[b" " * QUESTION_BYTES_MAX, b" ", b"never"])
    assert answer.status == 413


async def test_decisions_are_shown_one_by_one_and_together() -> None:
    app = admin_app(ConsoleSettings(), RecordingFleet())
    assert (await ask(app, "GET", "/admin/decisions/req_1")).json()["record"]["status"] == 200
    unknown = await ask(app, "GET", "/admin/decisions/req_2")
    assert (unknown.status, unknown.json()["error"]["code"]) == (404, "unknown_name")
    assert len((await ask(app, "GET", "/admin/decisions")).json()["decisions"]) == 20
    assert len((await ask(app, "GET", "/admin/decisions?limit=3")).json()["decisions"]) == 3


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "many", "", "1e3", "9" * 5000])
async def test_a_limit_that_is_none_is_refused(limit: str) -> None:
    answer = await ask(admin_app(ConsoleSettings(), RecordingFleet()), "GET", f"/admin/decisions?limit={limit}")
    assert (answer.status, answer.json()["error"]["param"]) == (400, "limit")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/admin/explain"), ("GET", "/admin/decisions"), ("GET", "/admin/decisions/req_1")]
)
async def test_nobody_learns_of_decisions_without_a_key(method: str, path: str) -> None:
    answer = await ask(admin_app(KEYED, RecordingFleet()), method, path, headers=JSON, pieces=[b'{"model": "m"}'])
    assert answer.status == 401
    rebound = await ask(
        admin_app(ConsoleSettings(), RecordingFleet()), method, path, headers={**JSON, "host": "rebound.example"}
    )
    assert rebound.status == 421


async def test_changes_of_the_fleet_are_in_the_audit_log_with_their_outcomes() -> None:
    log = ListedChanges()
    for name, body in (
        ("drain", {"pool": "chat"}),
        ("drain", {"replica": "chta-0"}),
        ("restart", {"replica": "chat-0"}),
        ("remove", {"replica": "chat-0"}),
        ("add", {"pool": "chat", "url": "http://user:password@h:1/x?key=k"}),
    ):
        await change(name, body, log=log)
    assert log.outcomes() == [
        ("fleet.drain", ""),
        ("fleet.drain", "unknown_name"),
        ("fleet.restart", "change_refused"),
        ("fleet.remove", "internal_error"),
        ("fleet.add", ""),
    ]
    assert log.entries[-1].subject == "http://***@h:1/x?key=*** to pool chat"
    assert "password" not in repr(log.entries)


async def test_a_fleet_change_that_cannot_be_audited_is_refused() -> None:
    fleet = RecordingFleet()
    answer = await change("drain", {"pool": "chat"}, fleet=fleet, log=ListedChanges(room=0))
    assert (answer.status, answer.json()["error"]["code"]) == (503, "store_unavailable")
    assert fleet.done == []


async def test_without_an_office_nothing_can_be_changed() -> None:
    answer = await ask(
        admin_app(ConsoleSettings(), RecordingFleet()), "POST", "/admin/fleet/drain", headers=JSON, pieces=[b"{}"]
    )
    assert answer.status == 404
