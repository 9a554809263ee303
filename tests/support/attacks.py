"""Requests that are as much of a burden as the limits allow: every field of every dialect, in every shape."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from heterodyne.gateway.dialects import chat_fields, completion, embedding, open_inference, tokenization
from tests.support.requests import MODEL

DIALECTS: dict[str, type[msgspec.Struct]] = {
    "/v1/chat/completions": chat_fields.ChatFields,
    "/v1/completions": completion.CompletionFields,
    "/v1/embeddings": embedding.EmbeddingFields,
    "/tokenize": tokenization.TokenizeFields,
    "/detokenize": tokenization.DetokenizeFields,
    f"/v2/models/{MODEL}/infer": open_inference.InferFields,
}
UNKNOWN = "nobody's field"
SHAPES = ("text", "utf8", "escapes", "ids", "texts", "objects", "lists", "words", "names", "nested", "digits", "spaces")


class Attack(NamedTuple):
    """One field of one dialect."""

    path: str
    field: str  # where in the body, as errors name it
    before: bytes  # of the body, up to the field's value
    behind: bytes

    def request(self, value: bytes, *headers: str) -> tuple[bytes, ...]:
        """With that value in the field, in pieces: a large one is not copied."""
        size = len(self.before) + len(value) + len(self.behind)
        lines = "".join(f"{one}\r\n" for one in ("host: localhost", "content-type: application/json", *headers))
        head = f"POST {self.path} HTTP/1.1\r\n{lines}content-length: {size}\r\n\r\n".encode()
        return head + self.before, value, self.behind


def attacks() -> Iterator[Attack]:
    """All of them; a new field of a dialect is among them without being named here."""
    for path, fields in DIALECTS.items():
        whole = _smallest(inspect.type_info(fields))
        whole |= {"model": MODEL} if "model" in whole else {}
        for place in _places(inspect.type_info(fields)):
            yield _attack(path, place, whole)
        yield _attack(path, (UNKNOWN,), whole)


def _attack(path: str, place: tuple[str | int, ...], whole: dict[str, Any]) -> Attack:
    mark = "the value goes here"
    body = msgspec.json.encode(_put(whole, place, mark))
    before, _, behind = body.partition(msgspec.json.encode(mark))
    return Attack(path, ".".join(map(str, place)), before, behind)


def _put(value: Any, place: tuple[str | int, ...], what: object) -> Any:
    """A copy with something else in one place, and whatever it takes to have that place."""
    if not place:
        return what
    step, rest = place[0], place[1:]
    if isinstance(step, int):
        return [_put(value[0] if isinstance(value, list) and value else {}, rest, what)]
    inner = value if isinstance(value, dict) else {}
    return {**inner, step: _put(inner.get(step), rest, what)}


def _places(kind: inspect.Type) -> Iterator[tuple[str | int, ...]]:
    """Where there are fields, in structs inside structs too."""
    match kind:
        case inspect.StructType():
            for field in kind.fields:
                yield (field.encode_name,)
                for inner in _places(field.type):
                    yield (field.encode_name, *inner)
        case inspect.ListType():
            for inner in _places(kind.item_type):
                yield (0, *inner)
        case inspect.UnionType():
            for one in kind.types:
                yield from _places(one)


def _smallest(kind: inspect.Type) -> Any:
    """A valid value with nothing in it that need not be."""
    match kind:
        case inspect.StructType():
            return {field.encode_name: _smallest(field.type) for field in kind.fields if field.required}
        case inspect.ListType():
            return [_smallest(kind.item_type)]
        case inspect.UnionType():
            return _smallest(kind.types[0])
        case inspect.LiteralType():
            return "user" if "user" in kind.values else kind.values[0]
        case inspect.StrType():
            return "a"
        case inspect.IntType() | inspect.FloatType():
            return 1
        case inspect.BoolType():
            return True
        case inspect.DictType():
            return {}
        case _:
            return [1]  # tensors that pass unread


@lru_cache(maxsize=2)
def value(shape: str, size: int) -> bytes:  # a table
    """JSON of that shape and about that size, never more."""
    match shape:
        case "text":
            return b'"' + b"a" * (size - 2) + b'"'
        case "utf8":
            return b'"' + "é".encode() * (size // 2 - 1) + b'"'
        case "escapes":
            return b'"' + b"\\n" * (size // 2 - 1) + b'"'
        case "ids":
            return _list(b"7", size)
        case "texts":
            return _list(b'"a"', size)
        case "objects":
            return _list(b"{}", size)
        case "lists":
            return _list(b"[7]", size)
        case "words":
            return _list(b'{"role":"user"}', size)
        case "names":
            return b"{" + b",".join(b'"%07d":1' % number for number in range(size // 12 - 1)) + b"}"
        case "nested":
            return b"[" * (size // 2) + b"]" * (size // 2)
        case "digits":
            return b"7" * size
        case _:
            return b" " * (size - 1) + b"7"


def _list(item: bytes, size: int) -> bytes:
    return b"[" + (item + b",") * ((size - 2) // (len(item) + 1) - 1) + item + b"]"
