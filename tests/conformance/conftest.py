"""OpenAI's published description, as JSON Schemas."""

import lzma
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

DATA = Path(os.environ.get("HETERODYNE_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
DESCRIPTION = DATA / "conformance" / "openai_openapi.yaml.xz"
URI = "urn:openai"

Check = Callable[[str, Any], None]


@pytest.fixture(scope="session")
def check() -> Check:
    """Fails with every way in which an answer is not what the named schema promises."""
    if not DESCRIPTION.exists():
        pytest.skip(f"no {DESCRIPTION}; HETERODYNE_SHARED_DATA names the folder above `conformance`")
    document = _nulls_named(yaml.load(lzma.decompress(DESCRIPTION.read_bytes()), yaml.CSafeLoader))
    registry: Any = Registry().with_resource(URI, DRAFT202012.create_resource(document))

    @cache
    def validator(name: str) -> Draft202012Validator:
        return Draft202012Validator({"$ref": f"{URI}#/components/schemas/{name}"}, registry=registry)

    def check(name: str, answer: Any) -> None:
        problems = [f"{problem.json_path}: {problem.message}" for problem in validator(name).iter_errors(answer)]
        assert not problems, f"{name}: {problems}\n{answer}"

    return check


def _nulls_named(value: Any) -> Any:
    """The published document says `nullable: true` in places, a word of OpenAPI 3.0 that JSON Schema ignores."""
    if isinstance(value, list):
        return [_nulls_named(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {key: _nulls_named(item) for key, item in value.items()}
    if named.get("nullable") is True:
        return {"anyOf": [named, {"type": "null"}]}
    return named
