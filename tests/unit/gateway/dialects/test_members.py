"""The members of a body, as the engine will read them."""

import msgspec
import pytest

from heterodyne.domain.errors import InvalidField, MalformedJson
from heterodyne.gateway.dialects.generation import longest
from heterodyne.gateway.dialects.members import private, read_members


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1,"a":1}',
        b'{"a":{"n":1 },"n":2 ,"a":1}',  # the last value is as long as a part of the first
        b'{"a": 1, "b": 2, "a": 1}',
        b'{"a":1,"\\u0061":1}',
        b'{"max_\\u0074okens": 5}',
    ],
)
def test_a_name_given_twice_or_with_escapes_is_found_wherever_it_stands(body: bytes) -> None:
    with pytest.raises(InvalidField, match="named twice or with escapes"):
        read_members(body)


@pytest.mark.parametrize("own", [b'"\xff":1', b'"own":{"\xff":1}'])
def test_a_name_that_is_no_text_is_refused(own: bytes) -> None:
    with pytest.raises(MalformedJson):
        private(read_members(b'{"model":"m",%b}' % own)[0], frozenset({"model"}))


def test_what_is_not_of_the_api_is_told_by_path() -> None:
    members, _ = read_members(b'{"model":"m","top_k":1,"options":{"a":1,"b":{}},"empty":{},"list":[{}]}')
    assert set(private(members, frozenset({"model"}))) == {"top_k", "options.a", "options.b", "empty", "list"}
    assert private(members, frozenset(members)) == {}


def own(**fields: object) -> dict[str, msgspec.Raw]:
    return private(read_members(msgspec.json.encode(fields))[0], frozenset())


def test_the_longest_length_counts_by_whatever_name() -> None:
    assert longest({}, None, None) is None
    assert longest({}, 5, None, 9) == 9
    assert longest(own(n_predict=30), 5) == 30
    assert longest(own(options={"num_predict": 30}), None) == 30
    assert longest(own(n_predict=None), None) is None
    assert longest(own(min_tokens=8), 5) == 8
    assert longest(own(min_tokens=8), None) is None


@pytest.mark.parametrize("fields", [{"n_predict": -1}, {"n_predict": 0}, {"n_predict": "9"}, {"min_tokens": 1.5}])
def test_a_length_that_engines_take_for_none_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidField, match="expected a whole number of at least"):
        longest(own(**fields), 5)
