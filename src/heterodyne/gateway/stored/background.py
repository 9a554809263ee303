"""Responses that nobody has to wait for: queued in the store, answered there, followed and cancelled from wherever."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, Protocol

from msgspec import Raw

from heterodyne.domain.errors import HeterodyneError, InvalidField, Overloaded
from heterodyne.domain.tenant import Caller
from heterodyne.engines.error_answer import read_error
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.responses_fields import decoder
from heterodyne.gateway.forms.responses_kept import KIND, input_items
from heterodyne.gateway.forms.responses_words import ResponseWords
from heterodyne.gateway.pages import PageResponse, PageRest
from heterodyne.gateway.render import EVENTS
from heterodyne.gateway.stored.background_stream import BackgroundStream
from heterodyne.gateway.stored.content_places import ContentPlaces
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.event_blocks import KIND as EVENT_BLOCK
from heterodyne.gateway.stored.event_blocks import KeptEvents, follow_kept, has_events
from heterodyne.gateway.stored.event_log import EventLog, error_event, event, last_event, response_in
from heterodyne.gateway.stored.followed_stream import COMMENT_S, FollowedStream
from heterodyne.gateway.stored.inner_call import STORED_ID, InnerAnswer, InnerCall
from heterodyne.gateway.stored.pages import shown
from heterodyne.gateway.stored.running import (
    LOST,
    StoredResponse,
    as_it_stands,
    changed,
    completed,
    encode_stored,
    is_running,
    status_of,
)
from heterodyne.ports.document_store import Document
from heterodyne.telemetry import log as logs
from heterodyne.wire.message import HttpRequest
from heterodyne.wire.server_connection import ServerConnection

RUNNING_MAX: Final = 1024
FOLLOWERS_MAX: Final = 1024
LOOK_S: Final = 2.0  # between two looks at whether one was cancelled
KEEP_S: Final = 1.0  # between two blocks of events
KEEP_TRIES: Final = 3  # to write down the last of them
LEAVE_S: Final = 5.0  # for what is to be written when the worker ends

_log = logs.get("gateway")


class Ask(Protocol):
    """How the gateway asks itself."""

    def __call__(self, http: HttpRequest, *, heard: Callable[[bytes], None] | None = None) -> InnerCall: ...


class Background:
    """Those of one worker, and those who follow their events."""

    def __init__(self, documents: Documents, places: ContentPlaces) -> None:
        self._documents = documents
        self._places = places
        self._tasks: set[asyncio.Task[None]] = set()
        self._followers: set[asyncio.Task[None]] = set()
        self._logs: dict[str, EventLog] = {}  # of those that are streams, by id
        self.ask: Ask | None = None  # set by the server

    def __len__(self) -> int:
        return len(self._tasks)

    async def begin(self, http: HttpRequest, caller: Caller, longest_s: float) -> PageResponse:
        """Queue it; the answer is the response as it stands, or its events."""
        self._places.check_documents(caller)
        if len(self._tasks) >= RUNNING_MAX:
            raise Overloaded(f"{RUNNING_MAX} responses run in the background already.", retry_after_s=5)
        words = ResponseWords(http.body)
        response = words.response("queued", b"[]", is_stored=True)
        until = self._documents.wall_clock() + longest_s
        is_streamed = bool(words.asked.stream)
        if is_streamed:
            self._check_followers()
        kept = StoredResponse(Raw(response), [Raw(item) for item in input_items(http.body)], until, is_streamed)
        parent = words.asked.previous_response_id or ""
        document = await self._documents.add(
            caller.project, kind=KIND, id=words.id, parent=parent, body=encode_stored(kept)
        )
        if not is_streamed:
            self._start(self._run(http, document))
            return shown(response)
        log = self._logs[document.id] = EventLog()
        log.add(event("response.created", 0, response))
        log.add(event("response.queued", 1, response))
        self._start(self._run_streamed(http, document, log))
        return self.follow(document, -1)

    def follow(self, response: Document, after: int) -> PageResponse:
        """Its events after a number, to its end."""
        if not has_events(response):
            raise InvalidField(
                "stream: only what was begun with both `background` and `stream` has its events kept.", param="stream"
            )
        self._check_followers()
        documents, log = self._documents, self._logs.get(response.id)
        source = (
            follow_kept(documents, response, after)
            if log is None
            else log.follow(after, COMMENT_S, KeptEvents(documents, response).more)
        )
        return PageResponse(200, EVENTS, b"", PageRest(None, partial(self._send, FollowedStream(source, after))))

    async def close(self) -> None:
        """What has ended is written down."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=LEAVE_S)
        for task in (*self._tasks, *self._followers):
            task.cancel()

    def _check_followers(self) -> None:
        if len(self._followers) >= FOLLOWERS_MAX:
            raise Overloaded(f"{FOLLOWERS_MAX} streams are followed already; try again shortly.", retry_after_s=5)

    def _start(self, run: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(run)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _send(self, stream: FollowedStream, connection: ServerConnection) -> None:
        task = stream.start(connection)
        self._followers.add(task)
        task.add_done_callback(self._followers.discard)

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

    async def _run_streamed(self, http: HttpRequest, document: Document, log: EventLog) -> None:
        assert self.ask is not None
        stream = BackgroundStream(self._documents, document, log)
        call = self.ask(_with_id(http, document.id, speaks_chunked=False), heard=stream.heard)
        try:
            while not await call.is_done_within(KEEP_S):
                await stream.keep()
                if not await self._is_wanted(document):
                    call.abort()
            if log.is_ended:  # by now the store has it, unless that was away for a moment
                await self._settle(document, InnerAnswer(200, response_in(log.last)))
            else:
                await self._end(document, stream)
            for _ in range(KEEP_TRIES):
                if await stream.keep():
                    break
                await asyncio.sleep(KEEP_S)
        except Exception as error:  # noqa: BLE001  # the root of a task: followers are told
            _log.error("background_failed", response=document.id, exc_info=error)
        finally:
            call.abort()
            if not log.is_ended:
                log.add(error_event(LOST["code"], "The end of the response was lost; ask for it.", log.end))
            del self._logs[document.id]

    async def _end(self, document: Document, stream: BackgroundStream) -> None:
        """Of one that did not tell its end itself: it was refused, cut off, cancelled or deleted."""
        await self._settle(document, stream.answer())
        found, number = await self._documents.try_get(document.project, KIND, document.id), stream.log.end
        if found is None:
            stream.log.add(error_event("response_deleted", "The response was deleted.", number))
            stream.drop()
            await self._documents.delete_children(document.project, EVENT_BLOCK, document.id)
        else:
            response = as_it_stands(found, self._documents.wall_clock())
            stream.log.add(last_event(status_of(found), number, response))

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


def _with_id(http: HttpRequest, id: str, *, speaks_chunked: bool = True) -> HttpRequest:
    """The same request, whose answer is kept by this id."""
    named = HttpRequest(
        method=http.method,
        path=http.path,
        query=http.query,
        headers={**http.headers, STORED_ID: id.encode()},
        keep_alive=False,
        speaks_chunked=speaks_chunked,
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
    return True
