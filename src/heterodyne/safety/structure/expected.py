"""What a request lets its answer be: the tools that it offers, and the form that it asks for."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

ANYTHING: Final = b""  # of a request that nobody has read
ANY_OBJECT: Final = Raw(b'{"type":"object"}')
TOOLS_MAX: Final = 1024  # more are not told apart, and what is called of them is unknown


class ExpectedAnswer(Struct, frozen=True, omit_defaults=True):
    """Kept as JSON between a request and its answer, which may be looked at in another process."""

    tools: dict[str, Raw] = {}  # by name, the JSON schemas of their arguments; null: any text
    is_json: bool = False
    schema: Raw = ANY_OBJECT  # of an answer that is JSON


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ExpectedAnswer).decode


def expected_of(document: Any) -> bytes:
    """What the body of a request says."""
    if not isinstance(document, Mapping):
        return _encode(ExpectedAnswer())
    tools = {} if document.get("tool_choice") == "none" else dict(_tools(document))
    wanted = document.get("response_format")
    kind = wanted.get("type") if isinstance(wanted, Mapping) else None
    named = wanted.get("json_schema") if isinstance(wanted, Mapping) else None
    schema = named.get("schema") if kind == "json_schema" and isinstance(named, Mapping) else None
    return _encode(
        ExpectedAnswer(
            tools=tools,
            is_json=kind in ("json_object", "json_schema"),
            schema=ANY_OBJECT if schema is None else Raw(_encode(schema)),
        )
    )


@lru_cache(maxsize=16)
def read_expected(expected: bytes) -> ExpectedAnswer:
    """The same again."""
    return _decode(expected)


def _tools(document: Mapping[str, Any]) -> Iterator[tuple[str, Raw]]:
    offered, functions = document.get("tools"), document.get("functions")
    found = offered[:TOOLS_MAX] if isinstance(offered, list) else []
    for tool in found:
        if not isinstance(tool, Mapping):
            continue
        function, custom = tool.get("function"), tool.get("custom")
        if isinstance(function, Mapping):
            yield _named(function)
        elif isinstance(custom, Mapping):
            yield str(custom.get("name")), Raw(b"null")
    for function in functions[:TOOLS_MAX] if isinstance(functions, list) else []:
        if isinstance(function, Mapping):
            yield _named(function)


def _named(function: Mapping[str, Any]) -> tuple[str, Raw]:
    parameters = function.get("parameters")
    return str(function.get("name")), Raw(_encode({} if parameters is None else parameters))
