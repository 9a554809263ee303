"""What the gateway answers by itself to clients of the Open Inference Protocol: metadata and readiness."""

from urllib.parse import unquote

import msgspec

from heterodyne import __version__
from heterodyne.domain.fleet import Health, Replica
from heterodyne.domain.tenant import Caller
from heterodyne.gateway import pages, render
from heterodyne.gateway.known_models import check_visible, no_such_model
from heterodyne.gateway.pages import PageSource
from heterodyne.wire.message import HttpRequest

MODEL_SEGMENT = 3  # of /v2/models/{model}/…


def server(source: PageSource, http: HttpRequest, caller: Caller) -> pages.PageResponse:
    """GET /v2: no extension is served, neither binary tensors nor the repository."""
    return _json(200, {"name": "heterodyne", "version": __version__, "extensions": []})


def live(source: PageSource, http: HttpRequest, caller: Caller) -> pages.PageResponse:
    """GET /v2/health/live: the process answers."""
    return _json(200, {"live": True})


def ready(source: PageSource, http: HttpRequest, caller: Caller) -> pages.PageResponse:
    """GET /v2/health/ready: what /health/ready says; a fleet that has lost one of its models is still of use."""
    status = pages.ready(source, http, caller).status
    return _json(status, {"ready": status == 200})


def model(source: PageSource, http: HttpRequest, caller: Caller) -> pages.PageResponse:
    """GET /v2/models/{model}: its tensors are the engine's to tell, so they are absent rather than empty."""
    name, replicas = _asked(source, http, caller)
    first = replicas[0]
    versions = sorted({replica.version for replica in replicas if replica.version is not None})
    metadata: dict[str, object] = {"name": name, "versions": versions, "platform": first.engine}
    if first.purpose is not None:
        metadata["properties"] = {"purpose": first.purpose}
    return _json(200, metadata)


def model_ready(source: PageSource, http: HttpRequest, caller: Caller) -> pages.PageResponse:
    """GET /v2/models/{model}/ready"""
    name, replicas = _asked(source, http, caller)
    is_ready = any(replica.health is Health.READY for replica in replicas) and not source.is_draining
    return _json(200 if is_ready else 503, {"name": name, "ready": is_ready})


def _asked(source: PageSource, http: HttpRequest, caller: Caller) -> tuple[str, tuple[Replica, ...]]:
    name = unquote(http.path.split(b"/")[MODEL_SEGMENT].decode("ascii", "replace"))
    snapshot = source.fleet
    check_visible(name, caller)
    replicas = snapshot.by_model.get(snapshot.model_of(name))
    if replicas is None:
        raise no_such_model(name, caller, snapshot)
    return name, replicas


def _json(status: int, body: object) -> pages.PageResponse:
    return pages.PageResponse(status, render.JSON, msgspec.json.encode(body))
