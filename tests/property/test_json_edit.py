"""Edits of a body change what they are told to and keep the bytes of every other value."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.engines.json_edit import put, put_first
from tests.support.splits import bounded

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=12)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
objects = st.dictionaries(st.text(max_size=6), values, max_size=6)
spaces = st.sampled_from([b"", b" ", b"\r\n\t "])


def spelled(document: dict[str, object], space: bytes) -> bytes:
    """JSON with space wherever it may be."""
    members = [
        space + msgspec.json.encode(name) + space + b":" + space + msgspec.json.encode(value) + space
        for name, value in document.items()
    ]
    return space + b"{" + (b",".join(members) or space) + b"}" + space


def members(body: bytes) -> dict[str, bytes]:
    return {name: bytes(value) for name, value in msgspec.json.decode(body, type=dict[str, msgspec.Raw]).items()}


@bounded
@given(objects, spaces)
def test_a_member_put_first_is_added_and_not_a_byte_lost(document: dict[str, object], space: bytes) -> None:
    document.pop("added", None)
    body = spelled(document, space)
    edited = put_first(body, b'"added":7')
    assert members(edited) == {"added": b"7", **members(body)}
    assert edited.replace(b'"added":7,', b"", 1).replace(b'"added":7', b"", 1) == body


@bounded
@given(objects, spaces, st.text(max_size=6))
def test_a_member_that_is_put_replaces_only_itself(document: dict[str, object], space: bytes, name: str) -> None:
    body = spelled(document, space)
    edited = put(body, {name: b'{"new":1.0e0}'})
    assert members(edited) == {**members(body), name: b'{"new":1.0e0}'}
