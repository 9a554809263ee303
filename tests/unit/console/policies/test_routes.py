"""The paths of guards, caches and cascades: which span, which findings, and what is refused."""

import hashlib

import pytest
from starlette.applications import Starlette

from heterodyne.admission.host_names import HostNames
from heterodyne.console.access.operators import Operators
from heterodyne.console.guard import Guard
from heterodyne.console.policies.pages import CachePage, CascadePage, GuardPage, HitPage
from heterodyne.console.policies.routes import policy_routes
from heterodyne.domain.guard_hit import GuardHitQuery
from tests.support.asgi import AsgiAnswer, ask

NOW = 10_000.0


class Asked:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    async def guards(self, since_at: float, until_at: float) -> GuardPage:
        self.asked.append((since_at, until_at))
        return GuardPage(since_at=since_at, until_at=until_at, guards=(), failures=())

    async def hits(self, query: GuardHitQuery) -> HitPage:
        self.asked.append(query)
        return HitPage(hits=(), is_cut=False)

    async def caches(self, since_at: float, until_at: float) -> CachePage:
        self.asked.append((since_at, until_at))
        fields = dict.fromkeys(("entries", "size_bytes", "size_bytes_max", "prompts", "refused"), 0)
        return CachePage(since_at=since_at, until_at=until_at, caches=(), is_shared=False, **fields)

    async def cascades(self, since_at: float, until_at: float) -> CascadePage:
        self.asked.append((since_at, until_at))
        return CascadePage(since_at=since_at, until_at=until_at, cascades=())


async def get(service: Asked, path: str) -> AsgiAnswer:
    guard = Guard(Operators((), (hashlib.sha256(b"viewer").hexdigest(),)), HostNames(("127.0.0.1",), has_keys=True))
    app = Starlette(routes=[one.starlette() for one in policy_routes(guard, service, lambda: NOW)])
    return await ask(app, "GET", path, headers={"authorization": "Bearer viewer", "host": "127.0.0.1"})


@pytest.mark.parametrize("path", ["/admin/guards", "/admin/caches", "/admin/cascades"])
async def test_a_span_is_an_hour_or_what_is_asked_for(path: str) -> None:
    service = Asked()
    assert (await get(service, path)).status == 200
    assert (await get(service, f"{path}?since_at=100&until_at=200")).json()["since_at"] == 100.0
    assert service.asked == [(NOW - 3600, NOW), (100.0, 200.0)]
    assert (await get(service, f"{path}?since_at=300&until_at=200")).status == 400
    assert (await get(service, f"{path}?sinse_at=300")).status == 400


async def test_findings_are_chosen_by_the_words_of_the_query() -> None:
    service = Asked()
    path = "/admin/guards/hits?since_at=1&until_at=2&policy=p&rule=iban&action=block&project=acme/a&limit=7"
    assert (await get(service, path)).status == 200
    assert service.asked == [
        GuardHitQuery(since_at=1.0, until_at=2.0, limit=7, policy="p", rule="iban", action="block", project="acme/a")
    ]
    assert (await get(service, "/admin/guards/hits?action=blocks")).status == 400
    assert (await get(service, "/admin/guards/hits?limit=0")).status == 400
