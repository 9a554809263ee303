"""The description covers what is served."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from heterodyne.gateway.openapi import described_routes, document
from heterodyne.gateway.route import Route
from heterodyne.gateway.routes import ROUTES, find

DOCUMENT = document()


def served() -> dict[str, Route]:
    routes = described_routes()
    assert set(routes) > {path.decode() for path in ROUTES}
    return routes


def operations() -> list[dict[str, Any]]:
    return [operation for methods in DOCUMENT["paths"].values() for operation in methods.values()]


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(references, value))
    if not isinstance(value, dict):
        return set()
    own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return own.union(*map(references, value.values()))


def test_every_route_is_described_under_its_method() -> None:
    described = {path: set(methods) for path, methods in DOCUMENT["paths"].items()}
    assert described == {
        path: {method.decode().lower() for method in (route.method, *route.also)} for path, route in served().items()
    }


def test_every_described_path_is_served() -> None:
    assert all(find(path.encode()) is not None for path in DOCUMENT["paths"])


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for operation in operations()]
    assert len(set(names)) == len(names)


def test_every_reference_leads_to_a_schema() -> None:
    schemas = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert references(DOCUMENT) <= schemas


@pytest.mark.parametrize("name", list(DOCUMENT["components"]["schemas"]))
def test_every_schema_is_a_json_schema(name: str) -> None:
    Draft202012Validator.check_schema(DOCUMENT["components"]["schemas"][name])


def test_routes_that_need_a_key_say_so_and_the_others_do_not() -> None:
    for path, route in served().items():
        for operation in DOCUMENT["paths"][path].values():
            assert (operation["security"] == []) == route.is_open, path
            assert ("401" in operation["responses"]) != route.is_open, path


def test_every_refusal_has_the_error_shape() -> None:
    for operation in operations():
        for status, response in operation["responses"].items():
            if status != "200":
                assert "#/components/schemas/Error" in references(response), (operation["operationId"], status)
