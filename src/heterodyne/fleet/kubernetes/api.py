"""Calls to a cluster's API: get, list in pages, watch, patch. Each has a deadline and an error with verb and path."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import HeterodyneError
from heterodyne.fleet.kubernetes.access import ClusterAccess
from heterodyne.fleet.kubernetes.errors import (
    ApiAway,
    ApiConflict,
    ApiError,
    ApiExpired,
    ApiForbidden,
    ApiMissing,
    ApiRefused,
)
from heterodyne.fleet.kubernetes.kind import Object, ObjectKind
from heterodyne.fleet.kubernetes.objects import ObjectList, Status, WatchEvent
from heterodyne.wire.answer_lines import AnswerLines
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import get, merge_patch

CALL_TIMEOUT_S = 15.0
WATCH_SPARE_S = 30.0  # a watch that has not even ended so long after its time is on a dead connection
PAGE_OBJECTS = 250
PAGES_MAX = 40
FIELD_MANAGER = "heterodyne"
ERRORS: dict[int, type[ApiError]] = {
    401: ApiForbidden,
    403: ApiForbidden,
    404: ApiMissing,
    409: ApiConflict,
    410: ApiExpired,
}

Answer = TypeVar("Answer")


class Choice(Struct, frozen=True, kw_only=True):
    """Some objects of a kind; an empty selector means all."""

    labels: str = ""
    fields: str = ""

    @property
    def query(self) -> dict[str, str]:
        said = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {name: selector for name, selector in said.items() if selector}


ALL = Choice()


class Page(Struct, frozen=True, kw_only=True):
    """A whole collection, of one moment."""

    objects: tuple[msgspec.Raw, ...]
    resource_version: str


class KubernetesApi:
    """One per supervisor; belongs to one event loop."""

    def __init__(self, access: Callable[[], ClusterAccess], *, call_timeout_s: float = CALL_TIMEOUT_S) -> None:
        """`access` may read files: it is asked in a thread, before every call."""
        self._access = access
        self._call_timeout_s = call_timeout_s
        self._pool: ConnectionPool | None = None

    async def close(self) -> None:
        """End every call."""
        if self._pool is not None:
            await self._pool.close()

    async def namespace(self) -> str:
        """The one that is meant where none is named."""
        return (await self._reach("get", "namespace")).namespace

    async def get(self, kind: ObjectKind[Object], namespace: str, name: str) -> Object:
        """One object."""
        path = kind.path(namespace, quote(name, safe=""))
        return _decoded(await self._call("get", path), kind.type, "get", path)

    async def get_at(self, path: str, type: type[Answer]) -> Answer:
        """One part of an object, such as its scale."""
        return _decoded(await self._call("get", path), type, "get", path)

    async def list(self, kind: ObjectKind[Object], namespace: str, chosen: Choice = ALL) -> Page:
        """All objects that are chosen; raises `ApiExpired` where they change faster than pages come."""
        path = kind.path(namespace)
        query = {"limit": str(PAGE_OBJECTS), **chosen.query}
        objects: list[msgspec.Raw] = []
        for _ in range(PAGES_MAX):
            page = _decoded(await self._call("list", path, query), ObjectList, "list", path)
            objects += page.items
            if not page.metadata.next_page:
                return Page(objects=tuple(objects), resource_version=page.metadata.resource_version)
            query["continue"] = page.metadata.next_page
        raise ApiRefused(f"list {path}: more than {PAGES_MAX * PAGE_OBJECTS} objects; choose fewer by their labels")

    async def watch(
        self, kind: ObjectKind[Object], namespace: str, chosen: Choice, resource_version: str, *, seconds: int
    ) -> AsyncGenerator[WatchEvent]:
        """What changes after that version, for so long; raises `ApiExpired` where the version is forgotten."""
        path = kind.path(namespace)
        query = {
            "watch": "1",
            **chosen.query,
            "resourceVersion": resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        access = await self._reach("watch", path)
        try:
            async with AnswerLines(
                self._connections(),
                access.address,
                _target(access, path, query),
                _headers(access),
                idle_timeout_s=seconds + WATCH_SPARE_S,
            ) as lines:
                status = await lines.status()
                if status != 200:
                    raise _refusal("watch", path, status, b"".join([line async for line in lines]))
                async for line in lines:
                    event = _decoded(line, WatchEvent, "watch", path)
                    if event.type == "ERROR":
                        code = _decoded(event.object, Status, "watch", path).code
                        raise _refusal("watch", path, code, event.object)
                    yield event
        except WireError as error:
            raise ApiAway(f"watch {path}: {error.describe('API server')}") from error

    async def patch(self, path: str, body: object) -> bytes:
        """A merge patch; one that has a `resourceVersion` raises `ApiConflict` where the object is another by now."""
        return await self._call("patch", path, {"fieldManager": FIELD_MANAGER}, msgspec.json.encode(body))

    async def _call(
        self, verb: str, path: str, query: dict[str, str] | None = None, body: bytes | None = None
    ) -> bytes:
        access = await self._reach(verb, path)
        target, headers = _target(access, path, query or {}), _headers(access)
        try:
            if body is None:
                answer = await get(
                    self._connections(),
                    access.address,
                    target,
                    timeout_s=self._call_timeout_s,
                    headers=headers,
                    keeps_alive=True,
                )
            else:
                answer = await merge_patch(
                    self._connections(), access.address, target, body, timeout_s=self._call_timeout_s, headers=headers
                )
        except WireError as error:
            raise ApiAway(f"{verb} {path}: {error.describe('API server')}") from error
        if not 200 <= answer.status < 300:
            raise _refusal(verb, path, answer.status, answer.body)
        return answer.body

    async def _reach(self, verb: str, path: str) -> ClusterAccess:
        try:
            return await asyncio.to_thread(self._access)
        except HeterodyneError as error:
            raise ApiAway(f"{verb} {path}: {error}") from error

    def _connections(self) -> ConnectionPool:
        if self._pool is None:
            self._pool = ConnectionPool(asyncio.get_running_loop(), idle_max=2, connect_timeout_s=self._call_timeout_s)
        return self._pool


def _target(access: ClusterAccess, path: str, query: dict[str, str]) -> str:
    return f"{access.base_path}{path}" + (f"?{urlencode(query)}" if query else "")


def _headers(access: ClusterAccess) -> bytes:
    bearer = "" if access.token is None else f"authorization: Bearer {access.token}\r\n"
    return f"{bearer}accept: application/json\r\nuser-agent: heterodyne\r\n".encode()


def _decoded(data: bytes | msgspec.Raw, type: type[Answer], verb: str, path: str) -> Answer:
    try:
        return msgspec.json.decode(data, type=type)
    except msgspec.DecodeError as error:
        raise ApiRefused(f"{verb} {path}: what came is not as the API has it: {error}") from error


def _refusal(verb: str, path: str, code: int, data: bytes | msgspec.Raw) -> ApiError:
    """A proxy before the API may answer in words of its own."""
    try:
        message = msgspec.json.decode(data, type=Status).message
    except msgspec.DecodeError:
        message = ""
    error = ERRORS.get(code, ApiAway if code >= 500 or code == 429 else ApiRefused)
    return error(f"{verb} {path}: {code} {message}".rstrip())
