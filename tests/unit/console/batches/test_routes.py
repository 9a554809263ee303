"""The paths of batches: what an operator sees of them, who may cancel one, and that it is in the log."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette

from heterodyne.admission.host_names import HostNames
from heterodyne.batches.batch import KIND, BatchCounts, BatchProblem, BatchStatus, BatchTokens, decode_batch
from heterodyne.console.access.operators import Operators
from heterodyne.console.batches import service as service_module
from heterodyne.console.batches.routes import batch_routes
from heterodyne.console.batches.service import BatchService
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.guard import Guard
from heterodyne.ports.document_store import Document, DocumentStore
from tests.support.asgi import AsgiAnswer, ask
from tests.support.change_logs import ListedChanges
from tests.support.stored_batches import a_batch, opened_documents, put_batch

NOW = 1000.0
CANCEL = "/admin/batches/cancel"


class Port:
    """An admin port over stored batches, with a key that may change them and one that may look."""

    def __init__(self, store: DocumentStore) -> None:
        self.store, self.log = store, ListedChanges()
        operators = Operators(*((hashlib.sha256(key).hexdigest(),) for key in (b"operator", b"viewer")))
        guard = Guard(operators, HostNames(("127.0.0.1",), has_keys=True))
        batches = BatchService(store, ChangeRecorder(self.log), clock=lambda: NOW)
        self.app = Starlette(routes=[one.starlette() for one in batch_routes(guard, batches)])

    async def get(self, path: str = "/admin/batches", key: str = "viewer") -> AsgiAnswer:
        return await ask(self.app, "GET", path, headers={"authorization": f"Bearer {key}", "host": "127.0.0.1"})

    async def cancel(self, id: str, key: str = "operator") -> AsgiAnswer:
        headers = {"authorization": f"Bearer {key}", "host": "127.0.0.1", "content-type": "application/json"}
        return await ask(self.app, "POST", CANCEL, headers=headers, pieces=(f'{{"batch":"{id}"}}'.encode(),))

    async def status(self, id: str) -> BatchStatus:
        [found] = await self.store.get_many(KIND, [id], NOW)
        return decode_batch(found.body).status


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[Port]:
    async with opened_documents(tmp_path) as store:
        yield Port(store)


async def test_the_page_has_what_runs_in_every_project_and_what_has_ended(tmp_path: Path) -> None:
    counts = BatchCounts(total=50, completed=20, failed=1)
    running = a_batch("run", counts=counts, expected_at=9000.0, expires_at=8000.0)
    problem = BatchProblem(code="input_file_gone", message="The input file is not there.")
    failed = a_batch("fail", BatchStatus.FAILED, at=700.0, project="other/chat", problems=(problem,))
    done = a_batch("done", BatchStatus.COMPLETED, at=600.0, tokens=BatchTokens(input=7, output=3))
    async with opened(tmp_path) as port:
        await put_batch(port.store, running, created_at=10.0, held_until=NOW + 1)
        await put_batch(port.store, a_batch("wait", BatchStatus.VALIDATING), created_at=20.0)
        await put_batch(port.store, failed, created_at=30.0)
        await put_batch(port.store, done, created_at=40.0)
        page = (await port.get()).json()
    assert page["is_cut"] is False
    [run, wait], [fail, done] = page["open"], page["ended"]
    assert run["counts"] == {"total": 50, "completed": 20, "failed": 1}
    assert (run["created_at"], run["expires_at"], run["expected_at"]) == (10.0, 8000.0, 9000.0)
    assert (run["is_late"], run["is_held"], run["can_be_cancelled"], run["ended_at"]) == (True, True, True, None)
    assert (wait["id"], wait["is_held"], wait["status"]) == ("wait", False, "validating")
    assert (fail["project"], fail["problem"], fail["ended_at"]) == ("other/chat", problem.message, 700.0)
    assert (done["tokens"]["input"], done["can_be_cancelled"]) == (7, False)


async def test_of_very_many_the_page_says_that_there_are_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "OPEN_MAX", 2)
    async with opened(tmp_path) as port:
        for number in range(3):
            await put_batch(port.store, a_batch(f"b{number}"), created_at=float(number))
        page = (await port.get()).json()
    assert ([one["id"] for one in page["open"]], page["is_cut"]) == (["b0", "b1"], True)


async def test_an_operator_cancels_a_batch_of_any_project_and_a_viewer_none(tmp_path: Path) -> None:
    async with opened(tmp_path) as port:
        await put_batch(port.store, a_batch("b", project="other/chat"), created_at=1.0)
        refused = await port.cancel("b", key="viewer")
        assert (refused.status, refused.json()["error"]["code"]) == (403, "read_only")
        assert (port.log.entries, await port.status("b")) == ([], BatchStatus.IN_PROGRESS)
        for _ in range(2):  # to ask once more does no harm
            done = await port.cancel("b")
            assert (done.status, done.json()["status"], done.json()["project"]) == (200, "cancelling", "other/chat")
        assert await port.status("b") is BatchStatus.CANCELLING
        assert port.log.outcomes() == [("batches.cancel", ""), ("batches.cancel", "")]
        assert {entry.subject for entry in port.log.entries} == {"b"}


@pytest.mark.parametrize("status", [BatchStatus.FINALIZING, BatchStatus.COMPLETED])
async def test_where_nothing_is_left_to_cancel_the_refusal_says_so(tmp_path: Path, status: BatchStatus) -> None:
    async with opened(tmp_path) as port:
        await put_batch(port.store, a_batch("b", status), created_at=1.0)
        refused = await port.cancel("b")
        assert (refused.status, refused.json()["error"]["code"]) == (409, "change_refused")
        assert status.value in refused.json()["error"]["message"]
        assert port.log.outcomes() == [("batches.cancel", "change_refused")]


async def test_a_batch_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    async with opened(tmp_path) as port:
        assert (await port.cancel("none")).status == 404
        assert (await port.cancel("")).status == 400
        assert (await port.cancel("x" * 1000)).status == 400


async def test_a_gateway_that_counts_meanwhile_does_not_undo_a_cancellation(tmp_path: Path) -> None:
    async with opened(tmp_path) as port:
        await put_batch(port.store, a_batch("b"), created_at=1.0)
        racing = _Racing(port.store)
        operator = Port(racing)  # type: ignore[arg-type]  # what is asked of it, it has
        assert (await operator.cancel("b")).status == 200
        assert (racing.replaced, await port.status("b")) == (2, BatchStatus.CANCELLING)


class _Racing:
    """A store in which somebody else is quicker, once."""

    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        self.get_many = store.get_many
        self.replaced = 0

    async def replace(self, document: Document) -> bool:
        self.replaced += 1
        return self.replaced > 1 and await self._store.replace(document)
