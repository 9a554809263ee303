"""Answers that are not the JSON that was asked for: of the request's own schema, or of one that the policy names."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.guard_verdict import Direction
from heterodyne.domain.json_schema.check import SchemaTooCostly, steps_for, try_misfit
from heterodyne.domain.json_schema.sound import try_fault
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.structure.breach import Breach
from heterodyne.safety.structure.expected import ExpectedAnswer
from heterodyne.safety.structure.patterns import compiled
from heterodyne.safety.texts import Texts

NOT_JSON: Final = "not_json"
NOT_OF_SCHEMA: Final = "not_of_schema"
CUT: Final = "content_filter"
_UNSET: Final = object()


class SchemaInspector:
    """One for a policy; raises InvalidSpec for a schema that is none."""

    calls = None
    answer_chars_max = None

    def __init__(self, settings: GuardSettings) -> None:
        self._schema = _UNSET if settings.json_schema is None else _read(settings.json_schema)

    @property
    def reads_requests(self) -> bool:
        return self._schema is _UNSET

    def looks_at(self, direction: Direction) -> bool:
        return direction == "output"

    def needs_whole(self, expected: ExpectedAnswer | None) -> bool:
        return self._schema is not _UNSET or (expected is not None and expected.is_json)

    def in_request(self, texts: Texts) -> Sequence[Breach]:
        return ()

    def in_choice(self, choice: Mapping[str, Any], where: str, expected: ExpectedAnswer | None) -> Sequence[Breach]:
        """Of one that refuses, calls tools and says nothing, or was cut off, no JSON is asked."""
        if not self.needs_whole(expected) or choice.get("finish_reason") == CUT:
            return ()
        message = choice.get("message")
        holder, member = (message, "content") if isinstance(message, Mapping) else (choice, "text")
        text = holder.get(member)
        if not text and (holder.get("tool_calls") or holder.get("function_call") or holder.get("refusal")):
            return ()
        rule = self._broken(text if isinstance(text, str) else "", expected)
        return () if rule is None else (Breach(f"{where}.{member}", rule, 0, len(text or ""), keeps=0),)

    def in_text(self, chars: int) -> None:
        return None

    def _broken(self, text: str, expected: ExpectedAnswer | None) -> str | None:
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return NOT_JSON
        is_ours = self._schema is not _UNSET
        schema: Any = self._schema
        if not is_ours:
            assert expected is not None
            schema = msgspec.json.decode(expected.schema)
        try:
            broken = try_misfit(value, schema, steps_max=steps_for(len(text)), with_patterns=is_ours)
        except (SchemaTooCostly, RecursionError):
            return NOT_OF_SCHEMA
        return None if broken is None else NOT_OF_SCHEMA


def _read(text: str) -> Any:
    try:
        schema = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise InvalidSpec(f"`json_schema` is no JSON: {error}") from None
    fault = try_fault(schema)
    if fault is not None:
        raise InvalidSpec(f"`json_schema` is no schema that can be looked after: {fault}")
    for pattern in _patterns(schema):
        compiled(pattern, "json_schema")
    return schema


def _patterns(schema: Any) -> list[str]:
    found: list[str] = []
    stack = [schema]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            if isinstance(one.get("pattern"), str):
                found.append(one["pattern"])
            if isinstance(one.get("patternProperties"), dict):
                found += one["patternProperties"]
            stack += one.values()
        elif isinstance(one, list):
            stack += one
    return found
