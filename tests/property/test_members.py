"""Members of a body are those that were written, each once."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway.dialects.members import read_members
from tests.support.splits import bounded

names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters='"\\\\'), max_size=6)
spaces = st.sampled_from([b"", b" ", b"\n\t", b"  "])
values = st.one_of(
    st.integers(), st.text(max_size=5), st.lists(st.integers(), max_size=3), st.dictionaries(names, names)
)
pairs = st.lists(st.tuples(names, values, spaces), max_size=6)


def written(members: list[tuple[str, object, bytes]]) -> bytes:
    def member(name: str, value: object, space: bytes) -> bytes:
        return space + msgspec.json.encode(name) + space + b":" + space + msgspec.json.encode(value) + space

    return b"{" + b",".join(member(*one) for one in members) + b"}"


@bounded
@given(pairs)
def test_members_are_refused_exactly_where_two_have_one_name(members: list[tuple[str, object, bytes]]) -> None:
    body = written(members)
    if len({name for name, _, _ in members}) < len(members):
        with pytest.raises(InvalidField, match="named twice"):
            read_members(body)
        return
    found, value_bytes = read_members(body)
    assert {name: msgspec.json.decode(value) for name, value in found.items()} == {n: v for n, v, _ in members}
    assert value_bytes == sum(len(msgspec.json.encode(value)) for _, value, _ in members)
