"""The OpenAPI description of the admin API, made from its routes, their structs and the error tree."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request

from heterodyne import __version__
from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.errors import CrossSite, ReadOnly, TooManySignIns
from heterodyne.console.guard import COOKIE, Guard
from heterodyne.console.render import status_of
from heterodyne.domain import errors
from heterodyne.domain.errors import HeterodyneError

Json = dict[str, Any]
ErrorKind = type[HeterodyneError]

PATH = "/admin/openapi.json"
REFERENCE = "#/components/schemas/{name}"
WITH_A_KEY: tuple[ErrorKind, ...] = (
    errors.InvalidField,
    errors.Unauthenticated,
    errors.UnknownHost,
    errors.InternalError,
    errors.StoreUnavailable,
    TooManySignIns,
)
WITH_A_BODY: tuple[ErrorKind, ...] = (
    errors.MalformedJson,
    errors.RequestTooSlow,
    errors.BodyTooLarge,
    errors.UnsupportedMediaType,
    errors.AuditBroken,
    CrossSite,
    ReadOnly,
)


class AdminErrorDetail(Struct, frozen=True, kw_only=True):
    """What went wrong."""

    message: str
    type: str
    param: str | None
    code: str


class AdminError(Struct, frozen=True, kw_only=True):
    """Every refusal."""

    error: AdminErrorDetail


class AdminOpenApi(Struct, frozen=True, kw_only=True):
    """An OpenAPI document."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]
    components: dict[str, Any]


def description_route(guard: Guard, routes: Sequence[AdminRoute]) -> AdminRoute:
    """The path of the description of these routes and of itself."""

    async def describe(_: Request) -> AdminOpenApi:
        return document()

    @cache
    def document() -> AdminOpenApi:
        return describe_routes((*routes, route))

    route = AdminRoute(
        method="GET",
        path=PATH,
        endpoint=guard.reading(describe),
        summary="This description",
        answer=AdminOpenApi,
    )
    return route


def describe_routes(routes: Sequence[AdminRoute]) -> AdminOpenApi:
    """The whole description; each route is in it."""
    structs = {struct for route in routes for struct in (route.body, route.answer) if struct is not None} | {AdminError}
    ordered = sorted(structs, key=lambda struct: (struct.__name__, struct.__module__))
    references, schemas = msgspec.json.schema_components(ordered, ref_template=REFERENCE)
    schema_of: dict[type[Struct], Json] = dict(zip(ordered, references, strict=True))
    paths: dict[str, Json] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema_of)
    return AdminOpenApi(
        openapi="3.1.0",
        info={
            "title": "Heterodyne, admin API",
            "version": __version__,
            "description": "The fleet, its tenants and their usage, for operators. Every change is in the audit log "
            "before it is answered, and refused when it cannot be. Fields that are not named here are refused.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        paths=paths,
        components={
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "operator": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
        },
    )


def _operation(route: AdminRoute, schema_of: dict[type[Struct], Json]) -> Json:
    operation: Json = {
        "operationId": _operation_id(route),
        "summary": route.summary,
        "parameters": _parameters(route),
        "responses": _responses(route, schema_of),
        # On loopback it may run without keys.
        "security": [] if route.is_open else [{"operator": []}, {"session": []}, {}],
    }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": _json(schema_of[route.body])}
    return operation


def _operation_id(route: AdminRoute) -> str:
    words = route.path.removeprefix("/admin").replace(".", "/").replace("{", "by/").replace("}", "").split("/")
    return "_".join([route.method.lower(), *filter(None, words)])


def _parameters(route: AdminRoute) -> list[Json]:
    named = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    asked = [
        {"name": word.name, "in": "query", "description": word.description, "schema": word.schema}
        for word in route.query
    ]
    return [*named, *asked]


def _responses(route: AdminRoute, schema_of: dict[type[Struct], Json]) -> Json:
    media_type = "text/event-stream" if route.is_stream else "application/json"
    success = {"description": f"{route.summary}.", "content": {media_type: {"schema": schema_of[route.answer]}}}
    by_status: dict[int, list[str]] = {}
    kinds = route.raises + (() if route.is_open else WITH_A_KEY) + (() if route.body is None else WITH_A_BODY)
    for kind in kinds:
        by_status.setdefault(status_of(kind, kind.status), []).append(f"`{kind.code}`: {kind.__doc__}")
    refusals = {
        str(status): {"description": "\n\n".join(lines), "content": _json(schema_of[AdminError])}
        for status, lines in sorted(by_status.items())
    }
    return {"200": success, **refusals}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
