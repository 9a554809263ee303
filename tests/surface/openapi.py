"""An OpenAPI description as lines, component names apart: a line per parameter, field and answer."""

from collections.abc import Iterator
from typing import Any

Json = Any
APART = frozenset(
    {"title", "description", "$ref", "properties", "items", "anyOf", "oneOf", "allOf", "additionalProperties"}
)
METHODS = frozenset({"get", "put", "post", "delete", "patch", "head", "options"})


def operations(document: Json) -> tuple[str, ...]:
    """Every operation with its parameters, bodies and answers, references followed."""
    found: list[str] = []
    for path, methods in document["paths"].items():
        shared = methods.get("parameters", ())
        for method, operation in methods.items():
            if method in METHODS:
                name = f"{method.upper()} {path}"
                found += [name, *(f"{name} {line}" for line in _operation(document, operation, shared))]
    return tuple(sorted(found))


def component_names(document: Json) -> tuple[str, ...]:
    return tuple(sorted(document.get("components", {}).get("schemas", {})))


def _operation(document: Json, operation: Json, shared: Json) -> Iterator[str]:
    yield f"id {operation.get('operationId')}"
    yield f"summary {operation.get('summary')}"
    for one in (*shared, *operation.get("parameters", ())):
        required = " required" if one.get("required") else ""
        for line in _schema(document, one.get("schema", {}), ()):
            yield f"{one['in']} {one['name']}{required} {line}"
    yield from _content(document, "body", operation.get("requestBody", {}))
    for status, answer in operation.get("responses", {}).items():
        yield f"{status} headers {sorted(answer.get('headers', {}))}"
        yield from _content(document, status, answer)


def _content(document: Json, what: str, holder: Json) -> Iterator[str]:
    for media_type, content in holder.get("content", {}).items():
        for line in _schema(document, content.get("schema", {}), ()):
            yield f"{what} {media_type} {line}"


def _schema(document: Json, schema: Json, followed: tuple[str, ...], path: str = "") -> Iterator[str]:
    """A line per place in a value; a reference to what encloses it is not followed again."""
    if isinstance(schema, bool):
        yield f"{path} {schema}"
        return
    if reference := schema.get("$ref"):
        if reference in followed:
            yield f"{path} (as above)"
            return
        target = document
        for key in reference.removeprefix("#/").split("/"):
            target = target[key]
        yield from _schema(document, target, (*followed, reference), path)
        return
    rest = {key: _plain(schema[key]) for key in sorted(schema) if key not in APART}
    rest.pop("discriminator", None)  # its mapping has component names
    yield f"{path} {rest}"
    for name, inner in schema.get("properties", {}).items():
        yield from _schema(document, inner, followed, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from _schema(document, schema[key], followed, f"{path}[]")
    for key in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(key, ()):
            yield from _schema(document, inner, followed, f"{path}|")


def _plain(value: Json) -> Json:
    """1000000.0 is 1000000 to every reader of JSON; which of the two is written follows from the order of imports."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
