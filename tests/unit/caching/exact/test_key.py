"""The same request has the same key however it is spelled; anything that changes an answer changes the key."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.caching.exact import fields
from heterodyne.caching.exact.key import is_deterministic, request_key
from tests.support.examples import examples

SALT = bytes(32)
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)
LEAVES = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | FLOATS | st.text(max_size=8)
VALUES = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(max_size=4), LEAVES, max_size=3)
NAMES = st.text(min_size=1, max_size=6).filter(lambda name: name not in fields.IGNORED)
BODIES = st.dictionaries(NAMES, VALUES, max_size=5)


def key(body: dict[str, Any], *, salt: bytes = SALT, version: str = "m@1", path: str = "/v1/chat/completions") -> bytes:
    return request_key(body, tenant_salt=salt, model_version=version, path=path)


def reversed_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: reversed_members(value[name]) for name in reversed(value)}
    return [reversed_members(each) for each in value] if isinstance(value, list) else value


@settings(max_examples=examples(60), deadline=None)
@given(BODIES)
def test_order_white_space_and_escapes_do_not_matter(body: dict[str, Any]):
    spaced = json.dumps(reversed_members(body), indent=3, ensure_ascii=True)
    assert key(json.loads(spaced)) == key(body)


@settings(max_examples=examples(60), deadline=None)
@given(BODIES, st.sampled_from(sorted(fields.IGNORED)), VALUES)
def test_members_that_do_not_change_the_answer_do_not_matter(body: dict[str, Any], name: str, value: Any):
    assert key({**body, name: value}) == key(body)


@settings(max_examples=examples(60), deadline=None)
@given(BODIES, NAMES, VALUES, VALUES)
def test_any_other_member_matters(body: dict[str, Any], name: str, one: Any, other: Any):
    # As JSON: Python takes True for 1 and 1.0 for 1, and only the second pair is one number in JSON.
    is_same = json.dumps(plain(one), sort_keys=True) == json.dumps(plain(other), sort_keys=True)
    assert (key({**body, name: one}) == key({**body, name: other})) is is_same
    without = {each: value for each, value in body.items() if each != name}
    assert key({**without, name: one}) != key(without)


def plain(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("spelling", ["1", "1.0", "1e0", "10E-1"])
def test_the_spelling_of_a_number_does_not_matter(spelling: str):
    assert key(json.loads(f'{{"top_p": {spelling}}}')) == key({"top_p": 1})


def test_a_number_is_no_text_and_no_truth():
    assert len({key({"seed": value}) for value in (1, "1", True, None, [1], 0)}) == 6


def test_nested_members_of_ignored_names_matter():
    assert key({"messages": [{"user": "a"}]}) != key({"messages": [{"user": "b"}]})


def test_tenant_version_and_path_matter():
    body = {"messages": []}
    assert len({key(body), key(body, salt=b"x" * 32), key(body, version="m@2"), key(body, path="/v1/completions")}) == 4


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, False),
        ({"temperature": 0}, True),
        ({"temperature": 0.0}, True),
        ({"temperature": 0.7}, False),
        ({"temperature": 0.7, "seed": 0}, True),
        ({"temperature": 0.7, "seed": None}, False),
        ({"top_k": 1}, True),
        ({"temperature": 0, "previous_response_id": "r"}, False),
        ({"temperature": 0, "conversation": None}, True),
        ({"temperature": 0, "web_search_options": {}}, False),
        ({"temperature": 0, "tools": [{"type": "function"}]}, True),
        ({"temperature": 0, "tools": [{"type": "function"}, {"type": "web_search"}]}, False),
    ],
)
def test_what_is_meant_to_be_answered_alike(body: dict[str, Any], expected: bool):
    assert is_deterministic(body) is expected
