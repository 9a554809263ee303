"""Answers the gateway gives by itself: models, health, metrics, the API description."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from urllib.parse import unquote

import msgspec

from heterodyne.admission.callers import is_operators
from heterodyne.admission.scopes import visible
from heterodyne.domain.fleet import FleetSnapshot, Health, Replica
from heterodyne.domain.tenant import Caller
from heterodyne.gateway import model_lists, render
from heterodyne.gateway.known_models import check_visible, is_visible, no_such_model
from heterodyne.telemetry import exposition
from heterodyne.telemetry import metrics as meters
from heterodyne.wire.message import HttpRequest
from heterodyne.wire.server_connection import ServerConnection

# By these their clients are known, where paths are the same.
ANTHROPIC_HEADER: Final = b"anthropic-version"
GOOGLE_HEADER: Final = b"x-goog-api-key"


class PageSource(Protocol):
    """What pages are made of; the request handler is one."""

    started_at: int
    worker_name: str
    run_dir: Path | None  # where workers leave their numbers for each other; None where there is only one

    @property
    def fleet(self) -> FleetSnapshot:
        """As it is now."""
        ...

    @property
    def is_draining(self) -> bool:
        """Whether this worker takes no new requests."""
        ...

    @property
    def description(self) -> bytes:
        """The OpenAPI description."""
        ...

    def note_gauges(self) -> None:
        """Bring the gauges up to date."""


class PageRest(NamedTuple):
    """A body that is sent piece by piece."""

    size_bytes: int | None  # None: a stream, whose length nobody knows yet
    send: Callable[[ServerConnection], None]  # begins to, once the head is written


class PageResponse(NamedTuple):
    """Status, headers, body."""

    status: int
    headers: bytes
    body: bytes
    rest: PageRest | None = None  # what comes in the place of the body


def models(source: PageSource, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/models, as the client's API has it."""
    entries = _entries(source, caller)
    names = [str(entry["id"]) for entry in entries]
    if ANTHROPIC_HEADER in http.headers:
        return _json(200, model_lists.anthropic_list(names, source.started_at))
    if GOOGLE_HEADER in http.headers:
        return _json(200, model_lists.gemini_list(names))
    return _json(200, {"object": "list", "data": entries})


def gemini_models(source: PageSource, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1beta/models: the same in Gemini's words."""
    return _json(200, model_lists.gemini_list([str(entry["id"]) for entry in _entries(source, caller)]))


def model(source: PageSource, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/models/{id}"""
    name = unquote(http.path.removeprefix(b"/v1/models/").decode("ascii", "replace"))
    snapshot = source.fleet
    check_visible(name, caller)
    entry = _entry(name, caller, snapshot, source.started_at)
    if entry is None:
        raise no_such_model(name, caller, snapshot)
    if ANTHROPIC_HEADER in http.headers:
        return _json(200, model_lists.anthropic_entry(name, source.started_at))
    return _json(200, model_lists.gemini_entry(name) if GOOGLE_HEADER in http.headers else entry)


def live(source: PageSource, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /health/live: the process answers."""
    return _json(200, {"status": "ok"})


def ready(source: PageSource, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /health/ready: some model can be asked, one that is held for included, and we are not leaving."""
    health = {
        name: any(replica.health is Health.READY for replica in replicas)
        for name, replicas in source.fleet.by_model.items()
    } | dict.fromkeys(source.fleet.asleep, True)
    shown = visible(caller, health)
    is_ready = any(health.values()) and not source.is_draining
    status = "draining" if source.is_draining else ("ready" if is_ready else "starting")
    body = {"status": status, "models": {name: "ready" if health[name] else "not_ready" for name in shown}}
    return _json(200 if is_ready else 503, body)


def metrics(source: PageSource, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /metrics: of all workers together; those that name tenants are for whoever runs the gateway."""
    source.note_gauges()
    samples = exposition.gather(source.run_dir, source.worker_name, meters.ALL)
    shown = meters.ALL if is_operators(caller) else meters.WITHOUT_TENANTS
    return PageResponse(200, render.TEXT, exposition.render(shown, samples))


def description(source: PageSource, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /openapi.json"""
    return PageResponse(200, render.JSON, source.description)


def _entries(source: PageSource, caller: Caller) -> list[dict[str, object]]:
    """Every model and adapter once, by an alias where the key may use it by no other name."""
    snapshot = source.fleet
    shown = dict.fromkeys(visible(caller, snapshot.names))
    names = [name for name in shown if name not in snapshot.aliases or snapshot.aliases[name] not in shown]
    entries = [_entry(name, caller, snapshot, source.started_at) for name in names]
    return [entry for entry in entries if entry is not None]


def _entry(name: str, caller: Caller, snapshot: FleetSnapshot, created: int) -> dict[str, object] | None:
    """None: nobody serves what the name means. What else it is called is told where the key may use that, too."""
    named, model = snapshot.aliases.get(name, name), snapshot.model_of(name)
    replicas = snapshot.by_model.get(model, ())
    if not replicas and model not in snapshot.asleep:
        return None
    entry = _model(name, replicas, created)
    if named != name and is_visible(named, caller):
        entry["root"] = named
    if named != model and is_visible(model, caller):
        entry["parent"] = model
    return entry


def _model(name: str, replicas: tuple[Replica, ...], created: int) -> dict[str, object]:
    entry: dict[str, object] = {"id": name, "object": "model", "created": created, "owned_by": "heterodyne"}
    for first in replicas[:1]:  # none of a model that is asleep
        if first.context_tokens is not None:
            entry["max_model_len"] = first.context_tokens
        if first.purpose is not None:
            entry["purpose"] = first.purpose
    return entry


def _json(status: int, body: object) -> PageResponse:
    return PageResponse(status, render.JSON, msgspec.json.encode(body))
