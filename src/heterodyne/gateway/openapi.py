"""The OpenAPI description of what this gateway serves, made from its routes, request structs and error tree."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from heterodyne import __version__
from heterodyne.domain import errors
from heterodyne.domain.urgency import Urgency
from heterodyne.gateway import answers, described_batches, described_stored
from heterodyne.gateway.described import (
    DESCRIBED,
    GEMINI_PATH,
    INFER_PATH,
    INFER_VERSION_PATH,
    MODEL_PATH,
    NAMED,
    OWN_ERRORS,
    TENSOR_MODEL_PATH,
    TENSOR_MODEL_READY_PATH,
)
from heterodyne.gateway.description import Described, ErrorKind
from heterodyne.gateway.dialects.gemini import VERBS
from heterodyne.gateway.route import API_KEY, Route
from heterodyne.gateway.routes import (
    GOOGLE_KEY,
    MODEL_ROUTE,
    ROUTES,
    TENSOR_MODEL_READY_ROUTE,
    TENSOR_MODEL_ROUTE,
    find,
)
from heterodyne.routing.catalogue import OBJECTIVES

Json = dict[str, Any]

EVERYWHERE: tuple[ErrorKind, ...] = (
    errors.MalformedHttp,
    errors.RequestTooSlow,
    errors.BodyTooLarge,
    errors.HeadTooLarge,
    errors.InternalError,
    errors.Overloaded,
)
WITH_A_KEY: tuple[ErrorKind, ...] = (errors.Unauthenticated, errors.NotAllowed, errors.UnknownHost)
WITH_AN_ENGINE: tuple[ErrorKind, ...] = (
    errors.MalformedJson,
    errors.InvalidField,
    errors.ContextExceeded,
    errors.UnknownModel,
    errors.UnsupportedMediaType,
    errors.LimitReached,
    errors.BudgetSpent,
    errors.SlowedDown,
    errors.KeyBlocked,
    errors.QueueFull,
    errors.NotInTime,
    errors.Shed,
    errors.NoSpareCapacity,
    errors.StoreUnavailable,
    errors.GuardUnavailable,
    errors.Draining,
    errors.DeadlineExceeded,
    errors.EngineUnavailable,
    errors.EngineStalled,
    errors.EngineBroke,
    errors.EngineGarbage,
)

MILLISECONDS: Json = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
HINT_HEADERS: dict[str, tuple[str, Json]] = {  # headers of a request that is to be answered by an engine
    "x-heterodyne-deadline-ms": (
        "The answer must be complete in this time, else 504.",
        {"type": "integer", "minimum": 1},
    ),
    "x-heterodyne-class": ("How urgent the request is.", {"enum": [one.value for one in Urgency]}),
    "x-heterodyne-policy": (
        "What its replica is chosen by, where the model lets requests say so.",
        {"enum": sorted(OBJECTIVES)},
    ),
    "x-heterodyne-slo-ttft-ms": ("The time to the first token that is to be kept.", MILLISECONDS),
    "x-heterodyne-slo-itl-ms": ("The time between two tokens that is to be kept.", MILLISECONDS),
    "x-heterodyne-session": (
        "What ties the request to those before it.",
        {"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[A-Za-z0-9_.:-]+$"},
    ),
}


@cache
def encoded_document() -> bytes:
    """As it is served, made when it is first asked for."""
    return msgspec.json.encode(document())


def document() -> Json:
    """The whole description; every route is in it."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Heterodyne",
            "version": __version__,
            "description": "The OpenAI API over every pool of this gateway, Anthropic's Messages, Gemini's API, and "
            "the Open Inference Protocol for models that take tensors. Fields of an engine's own pass where its "
            "dialect lists them or an operator has opened them.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": {path: _path(path, route) for path, route in described_routes().items()},
        "components": {
            "schemas": _schemas(DESCRIBED.values()),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                **{
                    name.decode(): {"type": "apiKey", "in": "header", "name": name.decode()}
                    for name in (API_KEY, GOOGLE_KEY)
                },
            },
        },
    }


def described_routes() -> dict[str, Route]:
    """Every route under its path, those with names in them included."""
    routes = (
        {path.decode(): route for path, route in ROUTES.items()} | described_stored.ROUTES | described_batches.ROUTES
    )
    routes |= {MODEL_PATH: MODEL_ROUTE, TENSOR_MODEL_PATH: TENSOR_MODEL_ROUTE}
    routes[TENSOR_MODEL_READY_PATH] = TENSOR_MODEL_READY_ROUTE
    for path in (INFER_PATH, INFER_VERSION_PATH, *(f"{GEMINI_PATH}:{verb}" for verb in VERBS)):
        route = find(path.encode())  # made for each name
        assert route is not None
        routes[path] = route
    return routes


def _path(path: str, route: Route) -> Json:
    """All methods of a path."""
    operations = {route.method.decode().lower(): _operation(path, route, DESCRIBED[path])}
    for method, other in route.also.items():
        name = method.decode()
        operations[name.lower()] = _operation(path, other, DESCRIBED[f"{name} {path}"])
    return operations


def _operation(path: str, route: Route, described: Described) -> Json:
    operation: Json = {
        "operationId": _operation_id(path, route),
        "summary": described.summary,
        "parameters": _parameters(path, route),
        "responses": _responses(route, described),
        "security": _security(route),
    }
    if described.fields is not None:
        operation["requestBody"] = {"required": True, "content": _json(_reference(described.fields))}
    if described.form is not None:
        operation["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": described.form}}}
    return operation


def _security(route: Route) -> list[Json]:
    """Where a key may be; a gateway on loopback may run without."""
    if route.is_open:
        return []
    own: list[Json] = [{name.decode(): []} for name in route.key_headers]
    return [{"key": []}, *own, {}]


def _operation_id(path: str, route: Route) -> str:
    words = path.replace(".", "/").replace("{", "by/").replace("}", "").removeprefix("/v1").split("/")
    return "_".join([route.method.decode().lower(), *filter(None, words)])


def _parameters(path: str, route: Route) -> list[Json]:
    parameters: list[Json] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": "The model's name; it may have slashes." if path == MODEL_PATH else described,
            "schema": {"type": "string", "minLength": 1},
        }
        for name, described in NAMED.items()
        if f"{{{name}}}" in path
    ]
    if route.read is not None:
        parameters += [
            {"name": name, "in": "header", "description": described, "schema": schema}
            for name, (described, schema) in HINT_HEADERS.items()
        ]
    return parameters


def _responses(route: Route, described: Described) -> Json:
    responses: Json = {"200": {"description": described.summary + ".", "content": _success(described)}}
    kinds = EVERYWHERE + described.raises
    kinds += () if route.is_open else WITH_A_KEY
    kinds += () if route.read is None else WITH_AN_ENGINE
    for status in sorted({kind.status for kind in kinds}):
        lines = [f"`{kind.code}`: {kind.__doc__}" for kind in kinds if kind.status == status]
        own = described.refusals.get(status)
        schema = _error(route)
        if own is not None:
            schema = {"anyOf": [_reference(own), schema]}
        responses[str(status)] = {"description": "\n\n".join(lines), "content": _json(schema)}
    if route.read is not None:
        description = f"`{errors.EngineRefused.code}`: {errors.EngineRefused.__doc__}"
        responses["4XX"] = {"description": description, "content": _json(_error(route))}
    return responses


def _error(route: Route) -> Json:
    """What never became a request is answered before its path is known, in OpenAI's shape."""
    ours = _reference(answers.Error)
    own = OWN_ERRORS.get(route.form)
    return ours if own is None else {"anyOf": [_reference(own), ours]}


def _success(described: Described) -> Json:
    content: Json = {} if described.answer is None else _json(_reference(described.answer))
    content |= {media_type: {"schema": {"type": "string"}} for media_type in described.media_types}
    if described.event is not None:
        events = f"Server-sent events; the data of each is of the type {described.event.__name__}."
        if described.ends_with_done:
            events += " The last one's is `[DONE]`."
        # Without a type: to some readers of descriptions it is that of the stream, to others that of each event.
        content["text/event-stream"] = {"schema": {"description": events}}
    return content


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _reference(struct: type[Struct]) -> Json:
    return {"$ref": f"#/components/schemas/{struct.__name__}"}


def _schemas(described: Iterable[Described]) -> Json:
    structs: list[type[Struct]] = [answers.Error, *dict.fromkeys(OWN_ERRORS.values())]
    for one in described:
        structs += [struct for struct in (one.fields, one.answer, one.event) if struct is not None]
    _, schemas = msgspec.json.schema_components(structs, ref_template="#/components/schemas/{name}")
    return dict(sorted(schemas.items()))
