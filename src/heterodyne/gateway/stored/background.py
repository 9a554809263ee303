"""Responses that nobody waits for: queued in the store, answered there, cancelled from wherever."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from heterodyne.domain.errors import HeterodyneError, InvalidField, Overloaded
from heterodyne.domain.tenant import Caller
from heterodyne.engines.error_answer import read_error
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.responses_fields import decoder
from heterodyne.gateway.forms.responses_kept import KIND, input_items
from heterodyne.gateway.forms.responses_words import ResponseWords
from heterodyne.gateway.pages import PageResponse
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.inner_call import STORED_ID, InnerAnswer, InnerCall
from heterodyne.gateway.stored.pages import shown
from heterodyne.gateway.stored.running import LOST, changed, completed, is_running
from heterodyne.ports.document_store import Document
from heterodyne.telemetry import log
from heterodyne.wire.message import HttpRequest

RUNNING_MAX: Final = 1024
LOOK_S: Final = 2.0  # between two looks at whether one was cancelled
LEAVE_S: Final = 5.0  # for what is to be written when the worker ends

Ask = Callable[[HttpRequest], InnerCall]

_log = log.get("gateway")


class Background:
    """Those of one worker."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._tasks: set[asyncio.Task[None]] = set()
        self.ask: Ask | None = None  # set by the server: how the gateway asks itself

    def __len__(self) -> int:
        return len(self._tasks)

    async def begin(self, http: HttpRequest, caller: Caller, longest_s: float) -> PageResponse:
        """Queue it; the answer is the response as it stands."""
        if len(self._tasks) >= RUNNING_MAX:
            raise Overloaded(f"{RUNNING_MAX} responses run in the background already.", retry_after_s=5)
        words = ResponseWords(http.body)
        response = words.response("queued", b"[]", is_stored=True)
        until = self._documents.wall_clock() + longest_s
        items = b",".join(input_items(http.body))
        document = await self._documents.add(
            caller.project,
            kind=KIND,
            id=words.id,
            parent=words.asked.previous_response_id or "",
            body=b'{"response":%b,"input":[%b],"running_until":%f}' % (response, items, until),
        )
        task = asyncio.get_running_loop().create_task(self._run(http, document))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return shown(response)

    async def close(self) -> None:
        """What has ended is written down."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=LEAVE_S)
        for task in tuple(self._tasks):
            task.cancel()

    async def _run(self, http: HttpRequest, document: Document) -> None:
        assert self.ask is not None
        call = self.ask(_with_id(http, document.id))
        try:
            while not await call.is_done_within(LOOK_S):
                if not await self._is_wanted(document):
                    return
            await self._settle(document, call.answer())
        except Exception as error:  # noqa: BLE001  # the root of a task: the response says so where it can
            _log.error("background_failed", response=document.id, exc_info=error)
        finally:
            call.abort()

    async def _is_wanted(self, document: Document) -> bool:
        try:
            found = await self._documents.try_get(document.project, KIND, document.id)
        except HeterodyneError:
            return True  # the store is away; what runs goes on
        return found is not None and is_running(found)

    async def _settle(self, document: Document, answer: InnerAnswer) -> None:
        """What was answered is in the store by now, unless that was away for a moment."""
        found = await self._documents.try_get(document.project, KIND, document.id)
        if found is None or not is_running(found):
            return
        body = (
            completed(found, answer.body)
            if answer.status == 200
            else changed(found, status="failed", error=_error(answer))
        )
        await self._documents.replace(found, body)


def _with_id(http: HttpRequest, id: str) -> HttpRequest:
    """The same request, whose answer is kept by this id."""
    named = HttpRequest(
        method=http.method,
        path=http.path,
        query=http.query,
        headers={**http.headers, STORED_ID: id.encode()},
        keep_alive=False,
        speaks_chunked=True,
    )
    named.body = http.body
    return named


def _error(answer: InnerAnswer) -> dict[str, Any]:
    """Of an answer that is one."""
    if not answer.status:
        return LOST
    code = "invalid_prompt" if 400 <= answer.status < 500 else "server_error"
    return {"code": "rate_limit_exceeded" if answer.status == 429 else code, "message": read_error(answer.body)[0]}


def check_background(body: bytes) -> bool:
    """Whether a body is to be answered in the background; raises where that cannot be."""
    if body.find(b'"background"') < 0:
        return False
    fields = decode(decoder, body)
    if not fields.background:
        return False
    if fields.store is False:
        raise InvalidField("store: what runs in the background is kept.", param="store")
    if fields.stream:
        raise InvalidField("stream: what runs in the background is asked for by its id.", param="stream")
    return True
