"""Values and the schemas that they are of, or are not."""

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.domain.json_schema.check import SchemaTooCostly, fits, steps_for, try_misfit
from heterodyne.domain.json_schema.sound import try_fault
from tests.support.examples import examples

CITY = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 5},
        "size": {"enum": ["small", "large"]},
        "inhabitants": {"type": "integer", "minimum": 0, "exclusiveMaximum": 100},
        "twins": {"type": "array", "items": {"$ref": "#"}, "maxItems": 2},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(("value", "where", "keyword"), [
    ([], "", "type"),
    ({}, "", "required"),
    ({"name": "x"}, ".name", "minLength"),
    ({"name": "abcdef"}, ".name", "maxLength"),
    ({"name": "Graz", "size": "huge"}, ".size", "enum"),
    ({"name": "Graz", "inhabitants": -1}, ".inhabitants", "minimum"),
    ({"name": "Graz", "inhabitants": 100}, ".inhabitants", "exclusiveMaximum"),
    ({"name": "Graz", "inhabitants": True}, ".inhabitants", "type"),
    ({"name": "Graz", "mayor": "Elke"}, "", "additionalProperties"),
    ({"name": "Graz", "twins": [{"name": "Pula"}, {"name": 3}]}, ".twins[1].name", "type"),
    ({"name": "Graz", "twins": [{"name": "Pula"}] * 3}, ".twins", "maxItems"),
])  # fmt: skip
def test_the_place_and_the_keyword_are_told(value: object, where: str, keyword: str) -> None:
    assert try_misfit(value, CITY) == (where, keyword)
    assert not fits(value, CITY)


def test_what_is_of_its_schema_fits() -> None:
    assert fits({"name": "Graz", "inhabitants": 3.0, "twins": [{"name": "Pula", "size": "small"}]}, CITY)


@pytest.mark.parametrize("schema", [
    None, [], "text", 7, {"type": 7}, {"type": "thing"}, {"required": "all", "properties": [1]}, {"enum": "abc"},
    {"required": [[1]], "minimum": "2", "anyOf": {}, "$ref": "https://elsewhere/schema", "items": 4},
])  # fmt: skip
def test_what_a_schema_says_wrongly_allows_everything(schema: object) -> None:
    assert all(fits(value, schema) for value in ({}, [1], "a", 3, None))


def test_patterns_of_strangers_are_not_looked_at() -> None:
    schema = {"pattern": "^(a+)+$", "patternProperties": {"^(a+)+$": {"type": "null"}}, "additionalProperties": False}
    assert fits("a" * 60 + "!", schema)
    assert fits({"a" * 60 + "!": 1}, schema)
    own = {"pattern": "^[a-z]+$", "patternProperties": {"^x_": {"type": "integer"}}, "additionalProperties": False}
    assert try_misfit("A", own, with_patterns=True) == ("", "pattern")
    assert try_misfit({"x_a": "1"}, own, with_patterns=True) == (".x_a", "type")
    assert try_misfit({"y": 1}, own, with_patterns=True) == ("", "additionalProperties")


def test_a_schema_that_goes_round_in_circles_is_left() -> None:
    with pytest.raises(SchemaTooCostly):
        try_misfit(1, {"$ref": "#"})
    twice = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}
    with pytest.raises(SchemaTooCostly):
        try_misfit(1, twice)
    assert fits(1, twice)
    tree = {"type": "array", "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]}}
    deep: object = "x"
    for _ in range(15):
        deep = [deep]
    with pytest.raises(SchemaTooCostly):
        try_misfit(deep, tree, steps_max=steps_for(100))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, 2.5]) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["object", "array", "string", "boolean", "null", "integer", "number"])
SMALL = st.integers(0, 3)


def _schemas(inner: "st.SearchStrategy[object]") -> "st.SearchStrategy[object]":
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "additionalProperties": inner,
            "propertyNames": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "contains": inner,
            "uniqueItems": st.booleans(),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "minimum": SMALL,
            "exclusiveMaximum": SMALL,
            "multipleOf": st.sampled_from([1, 2, 0.5]),
            "minLength": SMALL,
            "maxItems": SMALL,
            "minProperties": SMALL,
            "dependentRequired": st.dictionaries(st.sampled_from("abc"), st.just(["a"]), max_size=1),
        },
    )


@settings(max_examples=examples(60))
@given(VALUES, st.recursive(st.booleans(), _schemas, max_leaves=6))
def test_it_says_what_the_reference_validator_says(value: object, schema: object) -> None:
    assert try_fault(schema) is None
    assert (try_misfit(value, schema) is None) is jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(("schema", "words"), [
    ([], "$ is no schema"),
    ({"typ": "object"}, "$.typ is no keyword"),
    ({"type": "objekt"}, "$.type is none of"),
    ({"properties": {"a": {"minimum": "1"}}}, "$.properties.a.minimum is no number"),
    ({"required": "a"}, "$.required is no list of names"),
    ({"items": [{"maxItems": -1}]}, "$.items[0].maxItems is no size"),
    ({"$ref": "#/$defs/b"}, "$.$ref names no place"),
    ({"anyOf": {}}, "$.anyOf is no list"),
    ({"$defs": 3}, "$.$defs is no table"),
])  # fmt: skip
def test_what_is_wrong_with_a_schema_is_told_with_its_place(schema: object, words: str) -> None:
    fault = try_fault(schema)
    assert fault is not None
    assert words in fault


BOUNDS = st.dictionaries(
    st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), st.integers(-3, 6), max_size=2
)


@given(st.lists(st.integers(-5, 9), max_size=12), BOUNDS, st.sampled_from(["integer", "number", "string", ["integer"]]))
def test_a_list_of_numbers_fits_as_each_of_them_does(numbers: list[int], bounds: dict[str, int], kind: object) -> None:
    items = {"type": kind, **bounds}
    at = next((number for number, one in enumerate(numbers) if not fits(one, items)), None)
    found = try_misfit(numbers, {"type": "array", "items": items})
    assert (None if found is None else found.where) == (None if at is None else f"[{at}]")


def test_a_long_list_of_numbers_takes_few_steps() -> None:
    schema = {"type": "array", "items": {"type": "integer", "minimum": 0}}
    assert try_misfit(list(range(100_000)), schema, steps_max=10_000) is None
    with pytest.raises(SchemaTooCostly):
        try_misfit([0.5, *range(100_000)], {"items": {"type": "number"}}, steps_max=10_000)
