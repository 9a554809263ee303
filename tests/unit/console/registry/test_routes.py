"""The paths of the registry: who may see and do what, what is refused by name, and what is in the log."""

import hashlib

import pytest
from starlette.applications import Starlette

from heterodyne.admission.host_names import HostNames
from heterodyne.console.access.operators import Operators
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.guard import Guard
from heterodyne.console.registry.pages import RegistryPage, RegistryVersionPage, VerifiedPage
from heterodyne.console.registry.routes import registry_routes
from heterodyne.console.registry.service import RegistryChanges, RegistryQuery
from heterodyne.domain.errors import UnknownName
from heterodyne.registry.catalog.facts import Collected, Verified, VersionFacts
from heterodyne.registry.catalog.version_facts import summaries
from tests.support.asgi import AsgiAnswer, ask
from tests.support.change_logs import ListedChanges
from tests.support.registered_models import GGUF, artifact_of, version_of

[SUMMARY] = summaries([version_of("tiny", "v1")], [artifact_of("tiny", "v1", GGUF, "q8_0")])


class OneModel:
    """A registry with one version."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    async def versions(self, query: RegistryQuery) -> RegistryPage:
        self.asked.append(query)
        return RegistryPage(versions=(SUMMARY,), total=1, is_cut=False)

    async def version(self, name: str) -> RegistryVersionPage:
        self.asked.append(name)
        if not name.startswith("tiny"):
            raise UnknownName(f'the registry has no model "{name}"; did you mean "tiny"?')
        shown = VersionFacts(summary=SUMMARY, source_sha256="00", card={}, affinity=(), best=())
        return RegistryVersionPage(shown=shown, versions=("tiny@v1",))

    async def verify(self, name: str) -> VerifiedPage:
        self.asked.append(("verify", name))
        return VerifiedPage(artifacts=(Verified(name="tiny@v1 gguf q8_0", digest="d", problem=None),))

    async def collect(self, *, is_dry: bool) -> Collected:
        self.asked.append(("collect", is_dry))
        return Collected(blobs=3)


class Port:
    """An admin port over one model, with a key that may act and one that may look."""

    def __init__(self) -> None:
        self.registry, self.log = OneModel(), ListedChanges()
        operators = Operators(*((hashlib.sha256(key).hexdigest(),) for key in (b"operator", b"viewer")))
        guard = Guard(operators, HostNames(("127.0.0.1",), has_keys=True))
        changes = RegistryChanges(self.registry, ChangeRecorder(self.log))
        self.app = Starlette(routes=[one.starlette() for one in registry_routes(guard, self.registry, changes)])

    async def get(self, path: str, key: str = "viewer") -> AsgiAnswer:
        return await ask(self.app, "GET", path, headers={"authorization": f"Bearer {key}", "host": "127.0.0.1"})

    async def post(self, path: str, body: bytes, key: str = "operator") -> AsgiAnswer:
        headers = {"authorization": f"Bearer {key}", "host": "127.0.0.1", "content-type": "application/json"}
        return await ask(self.app, "POST", path, headers=headers, pieces=(body,))


async def test_versions_are_listed_with_their_artifacts() -> None:
    port = Port()
    page = (await port.get("/admin/registry?limit=7&search=ti")).json()
    assert port.registry.asked == [RegistryQuery(limit=7, search="ti")]
    [version] = page["versions"]
    assert (version["name"], version["artifacts"][0]["parity"]) == ("tiny@v1", "unjudged")


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "serach=a", "search=" + "x" * 201])
async def test_what_cannot_be_asked_is_refused_by_name(query: str) -> None:
    port = Port()
    answer = await port.get(f"/admin/registry?{query}")
    assert (answer.status, port.registry.asked) == (400, [])
    assert query.partition("=")[0] in answer.json()["error"]["message"]


async def test_a_version_is_shown_by_its_name_and_an_unknown_one_is_not_found() -> None:
    port = Port()
    shown = await port.get("/admin/registry/tiny@v1")
    assert (shown.status, shown.json()["shown"]["summary"]["version"]) == (200, "v1")
    missing = await port.get("/admin/registry/tinny")
    assert missing.status == 404
    assert 'did you mean "tiny"' in missing.json()["error"]["message"]
    assert (await port.get("/admin/registry/" + "x" * 201)).status == 400


@pytest.mark.parametrize(
    ("name", "body", "asked"),
    [
        ("verify", b'{"name":"tiny@v1"}', ("verify", "tiny@v1")),
        ("gc", b"{}", ("collect", True)),
        ("gc", b'{"dry_run":false}', ("collect", False)),
    ],
)
async def test_what_is_done_is_in_the_log_and_not_for_viewers(name: str, body: bytes, asked: object) -> None:
    port = Port()
    assert (await port.post(f"/admin/registry/{name}", body, key="viewer")).status == 403
    assert (port.registry.asked, port.log.entries) == ([], [])
    assert (await port.post(f"/admin/registry/{name}", body)).status == 200
    assert port.registry.asked == [asked]
    assert [(one.what, one.outcome) for one in port.log.entries] == [
        (f"registry.{name}", "asked"),
        (f"registry.{name}", ""),
    ]


@pytest.mark.parametrize("body", [b"{}", b'{"name":""}', b'{"name":"a","all":true}'])
async def test_a_check_names_what_it_reads(body: bytes) -> None:
    port = Port()
    assert (await port.post("/admin/registry/verify", body)).status == 400
    assert port.registry.asked == []
