"""Answers the gateway gives by itself: models, health, metrics, the API description."""

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import msgspec

from heterodyne.admission.scopes import visible
from heterodyne.domain.errors import NotAllowed, UnknownModel
from heterodyne.domain.fleet import FleetSnapshot, Health, Replica
from heterodyne.domain.tenant import Caller
from heterodyne.gateway import render
from heterodyne.routing.nobody import unknown_model
from heterodyne.telemetry import exposition
from heterodyne.telemetry import metrics as meters

if TYPE_CHECKING:
    from heterodyne.gateway.door import Door
    from heterodyne.wire.message import HttpRequest


class Answer(NamedTuple):
    """Status, headers, body."""

    status: int
    headers: bytes
    body: bytes


def models(door: "Door", http: "HttpRequest", caller: Caller) -> Answer:
    """GET /v1/models"""
    snapshot = door.fleet.snapshot
    shown = set(visible(caller, (*snapshot.by_model, *snapshot.adapters)))
    data = [_model(name, replicas, door.started_at) for name, replicas in snapshot.by_model.items() if name in shown]
    data += [
        _adapter(name, parent, snapshot, door.started_at) for name, parent in snapshot.adapters.items() if name in shown
    ]
    return _json(200, {"object": "list", "data": data})


def model(door: "Door", http: "HttpRequest", caller: Caller) -> Answer:
    """GET /v1/models/{id}"""
    name = unquote(http.path.removeprefix(b"/v1/models/").decode("ascii", "replace"))
    snapshot = door.fleet.snapshot
    if not visible(caller, (name,)):
        raise NotAllowed(f"This key may not use the model {name[:100]!r}.", param="model")
    replicas = snapshot.by_model.get(name)
    if replicas is None and name in snapshot.adapters:
        return _json(200, _adapter(name, snapshot.adapters[name], snapshot, door.started_at))
    if replicas is None:
        raise UnknownModel(unknown_model(name, snapshot), param="model")
    return _json(200, _model(name, replicas, door.started_at))


def live(door: "Door", http: "HttpRequest", caller: Caller) -> Answer:
    """GET /health/live: the process answers."""
    return _json(200, {"status": "ok"})


def ready(door: "Door", http: "HttpRequest", caller: Caller) -> Answer:
    """GET /health/ready: some model can be asked and we are not leaving."""
    health = {
        name: any(replica.health is Health.READY for replica in replicas)
        for name, replicas in door.fleet.snapshot.by_model.items()
    }
    is_ready = any(health.values()) and not door.house.is_draining
    status = "draining" if door.house.is_draining else ("ready" if is_ready else "starting")
    body = {"status": status, "models": {name: "ready" if ok else "not_ready" for name, ok in health.items()}}
    return _json(200 if is_ready else 503, body)


def metrics(door: "Door", http: "HttpRequest", caller: Caller) -> Answer:
    """GET /metrics: of all workers together."""
    door.note_gauges()
    samples = exposition.gather(door.run_dir, door.worker_name, meters.ALL)
    return Answer(200, render.TEXT, exposition.render(meters.ALL, samples))


def description(door: "Door", http: "HttpRequest", caller: Caller) -> Answer:
    """GET /openapi.json"""
    return Answer(200, render.JSON, door.description)


def _model(name: str, replicas: tuple[Replica, ...], created: int) -> dict[str, object]:
    entry: dict[str, object] = {"id": name, "object": "model", "created": created, "owned_by": "heterodyne"}
    first = replicas[0]
    if first.context_tokens is not None:
        entry["max_model_len"] = first.context_tokens
    if first.purpose is not None:
        entry["purpose"] = first.purpose
    return entry


def _adapter(name: str, parent: str, snapshot: FleetSnapshot, created: int) -> dict[str, object]:
    return {**_model(name, snapshot.by_model[parent], created), "parent": parent}


def _json(status: int, body: object) -> Answer:
    return Answer(status, render.JSON, msgspec.json.encode(body))
