"""The paths of the four desks: who may ask, what is refused by name, and who leaves before the answer."""

import asyncio
import hashlib
from typing import Any, cast

import pytest
from starlette.applications import Starlette
from starlette.requests import Request

from heterodyne.admission.host_names import HostNames
from heterodyne.console.access.operators import Operators
from heterodyne.console.app import service_routes
from heterodyne.console.capacity.pages import CapacityPage
from heterodyne.console.errors import CannotPlan, ServiceBusy
from heterodyne.console.guard import Guard
from heterodyne.console.plan.forms import HardwareForm, MemoryForm
from heterodyne.console.plan.pages import HardwareAnswer, MemoryAnswer
from heterodyne.console.rehearsal.pages import RehearsalPage, RehearsalRequest
from heterodyne.console.services import ConsoleServices
from heterodyne.console.tenants_now.pages import TenantsNow
from heterodyne.console.tenants_now.service import TenantsQuery
from heterodyne.console.while_connected import while_connected
from heterodyne.domain.errors import ClientGone, InvalidField
from tests.support.asgi import AsgiAnswer, ask

KEY = {"authorization": "Bearer secret", "host": "127.0.0.1"}
JSON = {**KEY, "content-type": "application/json"}


class Scripted:
    """All four desks, which repeat what they were asked."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    async def tenants_now(self, query: TenantsQuery) -> TenantsNow:
        self.asked.append(query)
        return TenantsNow(day="2026-11-01", tenants=(), projects=0, is_cut=False)

    async def capacity(self) -> CapacityPage:
        return CapacityPage(at=1.0, models=())

    async def memory(self, form: MemoryForm) -> MemoryAnswer:
        self.asked.append(form)
        raise CannotPlan("it does not")

    async def hardware(self, form: HardwareForm) -> HardwareAnswer:
        raise ServiceBusy("others are first")

    mix = options = None

    async def rehearse(self, asked: RehearsalRequest) -> RehearsalPage:
        self.asked.append(asked)
        await asyncio.sleep(60)
        raise AssertionError


def app(service: Scripted) -> Starlette:
    digests = (hashlib.sha256(b"secret").hexdigest(),)
    guard = Guard(Operators(digests), HostNames(("127.0.0.1",), has_keys=True))
    one = cast(Any, service)
    services = ConsoleServices(tenants=one, capacity=one, plans=one, rehearsals=one, kv=one)
    return Starlette(routes=[route.starlette() for route in service_routes(guard, services)])


async def post(service: Scripted, path: str, body: bytes) -> AsgiAnswer:
    return await ask(app(service), "POST", path, headers=JSON, pieces=(body,))


async def test_nobody_without_a_key_is_answered() -> None:
    service = Scripted()
    for method, path in (
        ("GET", "/admin/tenants"),
        ("GET", "/admin/capacity"),
        ("GET", "/admin/plan/options"),
        ("POST", "/admin/plan/memory"),
        ("POST", "/admin/plan/hardware"),
        ("POST", "/admin/plan/mix"),
        ("POST", "/admin/rehearsal"),
    ):
        answer = await ask(app(service), method, path, headers={"host": "127.0.0.1"})
        assert answer.status == 401, path
    assert service.asked == []


async def test_tenants_are_asked_for_by_number_and_beginning() -> None:
    service = Scripted()
    assert (await ask(app(service), "GET", "/admin/tenants?limit=7&search=acme/", headers=KEY)).status == 200
    assert (await ask(app(service), "GET", "/admin/tenants", headers=KEY)).status == 200
    assert service.asked == [TenantsQuery(limit=7, search="acme/"), TenantsQuery(limit=100, search="")]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=501", "limit=x", "limit=%C2%B2", "serach=acme", "search=" + "x" * 201]
)
async def test_what_cannot_be_asked_of_tenants_is_refused_by_name(query: str) -> None:
    answer = await ask(app(Scripted()), "GET", f"/admin/tenants?{query}", headers=KEY)
    assert answer.status == 400
    assert query.partition("=")[0] in answer.json()["error"]["message"]


async def test_capacity_is_shown() -> None:
    answer = await ask(app(Scripted()), "GET", "/admin/capacity", headers=KEY)
    assert (answer.status, answer.json()) == (200, {"at": 1.0, "models": []})


async def test_a_plan_that_cannot_be_is_no_fault_of_the_server() -> None:
    answer = await post(Scripted(), "/admin/plan/memory", b'{"model":"m","hardware":"h"}')
    assert (answer.status, answer.json()["error"]["code"]) == (422, "cannot_plan")
    answer = await post(Scripted(), "/admin/plan/hardware", b'{"model":"m"}')
    assert (answer.status, answer.json()["error"]["code"]) == (503, "desk_busy")


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m"}',
        b'{"model":"m","hardware":"h","tp":0}',
        b'{"model":"m","hardware":"h","precision":"fp7"}',
        b'{"model":"m","hardware":"h","file":"x"}',
        b'{"model":"","hardware":"h"}',
    ],
)
async def test_a_form_with_a_wrong_field_never_gets_to_the_planner(body: bytes) -> None:
    service = Scripted()
    assert (await post(service, "/admin/plan/memory", body)).status == 400
    assert service.asked == []


class Client:
    """A connection whose client stays until it leaves."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    def request(self) -> Request:
        return Request({"type": "http", "method": "POST", "headers": []}, self._receive)

    async def _receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}


async def test_work_stops_when_its_client_leaves() -> None:
    client, stopped = Client(), asyncio.Event()

    async def work() -> None:
        try:
            client.left.set()
            await asyncio.sleep(60)
        finally:
            stopped.set()

    with pytest.raises(ClientGone):
        await while_connected(client.request(), work())
    assert stopped.is_set()


async def test_work_whose_client_stays_is_answered() -> None:
    async def work() -> int:
        return 7

    assert await while_connected(Client().request(), work()) == 7


async def test_what_work_raises_is_raised_as_it_is() -> None:
    async def work() -> int:
        raise InvalidField("no", param="x")

    with pytest.raises(InvalidField, match="no"):
        await while_connected(Client().request(), work())


async def test_work_stops_when_whoever_waits_is_cancelled() -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()

    waiting = asyncio.create_task(while_connected(Client().request(), work()))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert stopped.is_set()
