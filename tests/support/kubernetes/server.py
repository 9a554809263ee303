"""A stand-in for a cluster's API server: list in pages, watch with bookmarks, expiry, conflicts, scale, rights.

It stands in for what no package carries. It schedules nothing and runs no controllers: tests do both, through the
official client.
"""

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

from aiohttp import web

from tests.support.kubernetes.rights import Asked, Rights
from tests.support.kubernetes.store import ApiFault, ClusterStore, Json, Key, matches

ADMIN = "admin-token"  # may do everything
BOOKMARK_S = 0.2
LISTS = {"endpointslices": "EndpointSliceList", "pods": "PodList", "nodes": "NodeList", "services": "ServiceList"}
Done = TypeVar("Done")


class KubernetesServer:
    """One per test; belongs to the event loop it is started on."""

    def __init__(self) -> None:
        self.store = ClusterStore()
        self.rights = Rights()
        self.rights.grant(ADMIN, "", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])
        self.has_expiry_in_stream = False  # whether a forgotten version is told as an event of a watch, or as a status
        self.conflicts_left = 0  # updates that find that somebody else was there before
        self.port = 0
        self.watches = 0  # open now
        self._runner: web.AppRunner | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listen, at the same port as before."""
        self._loop = asyncio.get_running_loop()
        application = web.Application(client_max_size=16 << 20)
        application.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(application, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Be away; what is known stays."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    def call(self, work: Coroutine[Any, Any, Done]) -> Done:
        """From another thread."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._answer(request)
        except ApiFault as fault:
            return web.json_response(fault.status, status=fault.status["code"])

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        group, namespace, plural, name, sub = _parts(request.path)
        verb = _verb(request, name)
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        resource = f"{plural}/{sub}" if sub else plural
        self.rights.check(token, Asked(verb, group, resource, namespace, name or _field_name(request)))
        key = (group, plural, namespace, name)
        if verb == "list":
            return web.json_response(self._page(key, request))
        if verb == "watch":
            return await self._watch(request, key)
        if verb == "create":
            data = await request.json()
            made = await self.store.create((group, plural, namespace, data["metadata"]["name"]), data)
            return web.json_response(made, status=201)
        if verb == "delete":
            return web.json_response(await self.store.delete(key))
        if sub == "scale":
            return web.json_response(await self._scale(request, key, verb))
        if verb == "get":
            return web.json_response(self.store.get(key))
        data = await request.json()
        self._conflict(key)
        update = self.store.patch if verb == "patch" else self.store.update
        return web.json_response(await update(key, data))

    def _page(self, key: Key, request: web.Request) -> Json:
        (group, plural, namespace, _), query = key, request.query
        found = self.store.list(group, plural, namespace, query.get("labelSelector", ""), _field_name(request))
        begin, version = 0, self.store.version
        if query.get("continue"):
            begin, version = map(int, query["continue"].split("-"))
            if version < self.store.forgotten:
                raise ApiFault(
                    410, "Expired", "The provided continue parameter is too old to display a consistent list"
                )
        limit = int(query.get("limit", 0)) or len(found) or 1
        rest = {"continue": f"{begin + limit}-{version}"} if begin + limit < len(found) else {}
        return {
            "kind": LISTS.get(plural, "List"),
            "apiVersion": f"{group}/v1" if group else "v1",
            "metadata": {"resourceVersion": str(version), **rest},
            "items": found[begin : begin + limit],
        }

    async def _watch(self, request: web.Request, key: Key) -> web.StreamResponse:
        version = int(request.query.get("resourceVersion") or 0)
        expired = ApiFault(410, "Expired", f"too old resource version: {version} ({self.store.forgotten})")
        if version < self.store.forgotten and not self.has_expiry_in_stream:
            raise expired
        answer = web.StreamResponse(headers={"content-type": "application/json"})
        answer.enable_chunked_encoding()
        await answer.prepare(request)
        self.watches += 1
        try:
            if version < self.store.forgotten:
                await _send(answer, "ERROR", expired.status)
            else:
                async with asyncio.timeout(float(request.query.get("timeoutSeconds", 60))):
                    await self._stream(answer, key, request, version)
        except TimeoutError:
            pass
        finally:
            self.watches -= 1
        await answer.write_eof()
        return answer

    async def _stream(self, answer: web.StreamResponse, key: Key, request: web.Request, version: int) -> None:
        query, name = request.query, _field_name(request)
        selector, has_bookmarks = query.get("labelSelector", ""), query.get("allowWatchBookmarks") == "true"
        while True:
            for at, type, of, made, before in list(self.store.history):
                if at <= version or of[:2] != key[:2] or key[2] not in ("", of[2]):
                    continue
                version = at
                if name not in ("", of[3]):
                    continue
                event = _event(type, selector, made, before)
                if event is not None:
                    await _send(answer, event, made)
            version = max(version, self.store.version)
            try:
                async with self.store.changed, asyncio.timeout(BOOKMARK_S):
                    await self.store.changed.wait_for(lambda since=version: self.store.version > since)
            except TimeoutError:
                if has_bookmarks:
                    await _send(answer, "BOOKMARK", {"metadata": {"name": "", "resourceVersion": str(version)}})

    async def _scale(self, request: web.Request, key: Key, verb: str) -> Json:
        held = self.store.get(key)
        if verb != "get":
            self._conflict(key)
            data = await request.json()
            said = data.get("metadata", {}).get("resourceVersion")
            changed = copy.deepcopy(held)
            if said is not None:
                changed["metadata"]["resourceVersion"] = said
            changed["spec"]["replicas"] = data["spec"]["replicas"]
            changed["metadata"]["managedFields"] = _managed(held, request.query.get("fieldManager", "unknown"))
            held = await self.store.update(key, changed)
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {
                one: held["metadata"][one]
                for one in ("name", "namespace", "uid", "resourceVersion", "managedFields")
                if one in held["metadata"]
            },
            "spec": {"replicas": held["spec"].get("replicas", 1)},
            "status": {"replicas": held.get("status", {}).get("replicas", 0), "selector": _selector(held)},
        }

    def _conflict(self, key: Key) -> None:
        if self.conflicts_left:
            self.conflicts_left -= 1
            raise ApiFault(
                409, "Conflict", f'Operation cannot be fulfilled on {key[1]} "{key[3]}": it has been modified'
            )


def _managed(held: Json, manager: str) -> list[Json]:
    others = [one for one in held["metadata"].get("managedFields", []) if one.get("subresource") != "scale"]
    fields = {"f:spec": {"f:replicas": {}}}
    now = datetime.now(UTC).isoformat()
    scaled = {"manager": manager, "operation": "Update", "subresource": "scale", "time": now, "fieldsV1": fields}
    return [*others, scaled]


def _selector(held: Json) -> str:
    labels = held["spec"].get("selector", {}).get("matchLabels", {})
    return ",".join(f"{name}={value}" for name, value in labels.items())


def _event(type: str, selector: str, made: Json, before: Json | None) -> str | None:
    """What a watch with a selector is told: what does not match any more is gone, as far as it knows."""
    is_in = matches(selector, made["metadata"].get("labels") or {})
    was_in = before is not None and matches(selector, before["metadata"].get("labels") or {})
    if type == "DELETED":
        return type if was_in else None
    if is_in:
        return "MODIFIED" if was_in else "ADDED"
    return "DELETED" if was_in else None


async def _send(answer: web.StreamResponse, type: str, made: Json) -> None:
    await answer.write(json.dumps({"type": type, "object": made}).encode() + b"\n")


def _verb(request: web.Request, name: str) -> str:
    if request.method == "GET":
        if name:
            return "get"
        return "watch" if request.query.get("watch") in ("1", "true", "True") else "list"
    return {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[request.method]


def _field_name(request: web.Request) -> str:
    """That of a field selector, which rights for a single name are given by."""
    return str(request.query.get("fieldSelector", "")).removeprefix("metadata.name=")


def _parts(path: str) -> tuple[str, str, str, str, str]:
    """Group, namespace, plural, name, subresource."""
    words = path.strip("/").split("/")
    group = "" if words[0] == "api" else words[1]
    rest = words[2:] if words[0] == "api" else words[3:]
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    plural, name, sub = (*rest, "", "", "")[:3]
    return group, namespace, plural, name, sub


@asynccontextmanager
async def kubernetes_server() -> AsyncIterator[KubernetesServer]:
    """One that runs."""
    server = KubernetesServer()
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
