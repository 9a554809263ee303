"""The comparison of two commits finds what users would notice, and no more."""

from tests.surface.compare import differences
from tests.surface.openapi import operations


def document(name: str, *fields: str) -> dict[str, object]:
    schema = {"title": name, "type": "object", "properties": {field: {"type": "string"} for field in fields}}
    answer = {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}}
    return {"paths": {"/x": {"get": {"responses": {"200": answer}}}}, "components": {"schemas": {name: schema}}}


def test_a_component_that_is_renamed_is_the_same_api() -> None:
    assert operations(document("Old", "a")) == operations(document("New", "a"))


def test_a_field_that_goes_is_a_difference() -> None:
    old, new = operations(document("One", "a", "b")), operations(document("One", "a"))
    assert differences({"api": old}, {"api": new}) == {"api": ["-GET /x 200 application/json .b {'type': 'string'}"]}


def test_a_whole_number_is_the_same_with_and_without_a_point() -> None:
    one, other = document("One", "a"), document("One", "a")
    for number, described in ((1.0, one), (1, other)):
        described["components"]["schemas"]["One"]["properties"]["a"]["maximum"] = number  # type: ignore[index]
    assert operations(one) == operations(other)


def test_a_value_that_holds_itself_ends() -> None:
    looped = document("Node")
    node = looped["components"]["schemas"]["Node"]  # type: ignore[index]
    node["properties"]["next"] = {"$ref": "#/components/schemas/Node"}
    assert "GET /x 200 application/json .next (as above)" in operations(looped)


def test_a_surface_that_is_new_is_a_difference() -> None:
    assert differences({}, {"dashboard": ("one",)}) == {"dashboard": ["+one"]}
