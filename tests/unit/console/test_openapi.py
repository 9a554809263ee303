"""The description covers what the admin API serves, and nobody reads it without a key."""

import hashlib
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from msgspec import structs
from starlette.applications import Starlette
from starlette.routing import Route

from heterodyne.console.app import admin_app
from heterodyne.console.openapi import PATH
from heterodyne.console.services import ConsoleServices
from heterodyne.console.settings import ConsoleSettings
from tests.support.asgi import ask
from tests.support.consoles import instruments
from tests.support.store_services import store_services

KEYED = ConsoleSettings(operator_keys_sha256=(hashlib.sha256(b"secret").hexdigest(),))


class NoFleet:
    def __getattr__(self, name: str) -> "NoFleet":
        return self


def everything(settings: ConsoleSettings) -> Starlette:
    """A console with all it can have."""
    nobody: Any = NoFleet()
    services = ConsoleServices(tenants=nobody, capacity=nobody, plans=nobody, rehearsals=nobody, kv=nobody)
    stores = structs.replace(store_services(), rollouts=nobody, registry=nobody, scaling=nobody)
    return admin_app(settings, nobody, stores, instruments(settings, services=services))


APP = everything(KEYED)
OPEN = ("/health", "/session")
PAGES = ("/", "/static/{path:path}")  # what a browser loads; they hold nothing but code
ROUTES = [route for route in APP.routes if isinstance(route, Route) and route.path not in PAGES]


async def document() -> dict[str, Any]:
    answer = await ask(APP, "GET", PATH, headers={"authorization": "Bearer secret"})
    assert answer.status == 200
    return cast(dict[str, Any], answer.json())


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(references, value))
    if not isinstance(value, dict):
        return set()
    own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return own.union(*map(references, value.values()))


async def test_the_description_wants_an_operator_key() -> None:
    assert (await ask(APP, "GET", PATH)).status == 401


async def test_every_route_is_described_under_its_methods_and_nothing_else_is() -> None:
    described = {(path, method.upper()) for path, methods in (await document())["paths"].items() for method in methods}
    served = {(route.path, method) for route in ROUTES for method in route.methods or () if method != "HEAD"}
    assert described == served
    assert len(served) > 30


async def test_operations_have_names_of_their_own() -> None:
    paths = (await document())["paths"]
    names = [operation["operationId"] for methods in paths.values() for operation in methods.values()]
    assert len(set(names)) == len(names)


async def test_every_reference_leads_to_a_schema_and_every_schema_is_one() -> None:
    described = await document()
    schemas = described["components"]["schemas"]
    assert references(described) <= {f"#/components/schemas/{name}" for name in schemas}
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)


async def test_only_health_and_signing_in_are_open_and_every_other_refusal_has_the_error_shape() -> None:
    for path, methods in (await document())["paths"].items():
        for operation in methods.values():
            assert (operation["security"] == []) == (path in OPEN), path
            assert path in OPEN or "401" in operation["responses"], path
            for status, response in operation["responses"].items():
                if status != "200":
                    assert references(response) == {"#/components/schemas/AdminError"}, (path, status)


async def test_what_takes_a_body_refuses_fields_it_does_not_name() -> None:
    described = await document()
    for path, methods in described["paths"].items():
        body = methods.get("post", {}).get("requestBody")
        if body is None:
            continue
        [reference] = references(body["content"]["application/json"]["schema"])
        schema = described["components"]["schemas"][reference.rpartition("/")[2]]
        assert schema["additionalProperties"] is False, path


CLOSED = [route for route in ROUTES if route.path not in OPEN]


@pytest.mark.parametrize("route", CLOSED, ids=lambda route: f"{sorted(route.methods)[-1]} {route.path}")
async def test_a_projects_key_opens_no_path(route: Route) -> None:
    """Neither where operators have keys nor where none is needed."""
    path = route.path.replace("{", "").replace("}", "")
    headers = {"authorization": "Bearer hd-" + "x" * 43, "content-type": "application/json"}
    for settings in (KEYED, ConsoleSettings()):
        app = everything(settings)
        for method in route.methods or ():
            answer = await ask(app, method, path, headers=headers, pieces=[b"{}"])
            assert answer.status == 401, (method, path)
