"""Calls of tools that are malformed, or that an operator does not want: in answers, and in what clients say was called.

In an answer a call must name a tool that its request offers, with arguments that are JSON of the tool's own schema. In
either direction the policy's deny rules hold, and the result of a call that nobody made is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from heterodyne.domain.guard_verdict import Direction
from heterodyne.domain.json_schema.check import SchemaTooCostly, steps_for, try_misfit
from heterodyne.domain.nearest import unknown_name
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.structure.breach import Breach
from heterodyne.safety.structure.deny_rules import (
    DENIED_ARGUMENT,
    DENIED_TOOL,
    OTHER_HOST,
    PATH_OUTSIDE,
    DenyRules,
)
from heterodyne.safety.structure.expected import ExpectedAnswer
from heterodyne.safety.structure.inspector import TOO_LONG, TOO_MANY
from heterodyne.safety.structure.said_calls import CallInMessage, calls_of
from heterodyne.safety.texts import Texts

NOT_JSON: Final = "arguments_not_json"
UNKNOWN_TOOL: Final = "unknown_tool"
NOT_OF_SCHEMA: Final = "arguments_not_of_schema"
NO_CALL: Final = "result_without_call"
RULES: Final = (
    *(NOT_JSON, UNKNOWN_TOOL, NOT_OF_SCHEMA, TOO_LONG, TOO_MANY, NO_CALL),
    *(DENIED_TOOL, DENIED_ARGUMENT, PATH_OUTSIDE, OTHER_HOST),
)
CALLS_MAX: Final = 128  # of one answer, where the policy does not say
ARGUMENT_CHARS_MAX: Final = 64 * 1024  # of one call


class ToolCallInspector:
    """One for a policy; raises InvalidSpec."""

    reads_requests = True
    answer_chars_max = None

    def __init__(self, settings: GuardSettings) -> None:
        for kind in settings.kinds:
            if kind not in RULES:
                raise unknown_name("rule of `tool_calls`", kind, RULES)
        self._rules = frozenset(settings.kinds or RULES)
        self._denied = DenyRules(settings)
        self._calls_max = settings.calls_max or CALLS_MAX
        self._argument_chars_max = settings.argument_chars_max or ARGUMENT_CHARS_MAX

    @property
    def calls(self) -> "ToolCallInspector":
        return self

    def looks_at(self, direction: Direction) -> bool:
        return True

    def needs_whole(self, expected: ExpectedAnswer | None) -> bool:
        return False

    def over(self, calls: int, argument_chars: int, where: str) -> Breach | None:
        if calls > self._calls_max and TOO_MANY in self._rules:
            return Breach(where, TOO_MANY)
        if argument_chars > self._argument_chars_max and TOO_LONG in self._rules:
            return Breach(where, TOO_LONG)
        return None

    def in_request(self, texts: Texts) -> Sequence[Breach]:
        document = texts.document
        messages = document.get("messages") if isinstance(document, Mapping) else None
        return [one for one in _in_messages(self, messages) if one.rule in self._rules] if messages else ()

    def in_choice(self, choice: Mapping[str, Any], where: str, expected: ExpectedAnswer | None) -> Sequence[Breach]:
        message = choice.get("message")
        if not isinstance(message, Mapping):
            return ()
        found: list[Breach] = []
        for number, call in enumerate(calls_of(message, where)):
            if number >= self._calls_max:
                found.append(Breach(call.where, TOO_MANY))
                break
            found += self.in_call(call, expected)
        return [one for one in found if one.rule in self._rules]

    def in_text(self, chars: int) -> None:
        return None

    def in_call(self, call: CallInMessage, expected: ExpectedAnswer | None) -> Iterator[Breach]:
        """What is wrong with one call; without `expected`, nobody asks whether it may be made."""
        size = len(call.arguments)
        if size > self._argument_chars_max and TOO_LONG in self._rules:
            yield Breach(call.arguments_at, TOO_LONG, 0, size)
            return
        if self._denied.denies(call.name):
            yield Breach(call.name_at, DENIED_TOOL, 0, len(call.name))
        is_offered = expected is None or call.name in expected.tools
        if not is_offered:
            yield Breach(call.name_at, UNKNOWN_TOOL, 0, len(call.name))
        arguments: Any = call.arguments
        if not call.takes_text:
            try:
                arguments = msgspec.json.decode(call.arguments or "{}")
            except (msgspec.DecodeError, RecursionError, UnicodeError):
                yield Breach(call.arguments_at, NOT_JSON, 0, size)
            else:
                if not isinstance(arguments, dict) or (
                    expected is not None and is_offered and not _is_of_schema(arguments, call, expected)
                ):
                    yield Breach(call.arguments_at, NOT_OF_SCHEMA, 0, size)
        if self._denied.reads_arguments and self._denied.holds_for(call.name):
            for rule in self._denied.broken_by(arguments):
                yield Breach(call.arguments_at, rule, 0, size)


def _in_messages(inspector: ToolCallInspector, messages: Any) -> Iterator[Breach]:
    ids: set[str] = set()
    names: set[str] = set()
    for number, message in enumerate(messages if isinstance(messages, list) else ()):
        if not isinstance(message, Mapping):
            continue
        where, role = f"messages[{number}]", message.get("role")
        for call in calls_of(message, where):
            yield from inspector.in_call(call, None)
            ids.add(call.id)
            names.add(call.name)
        if role == "tool" and message.get("tool_call_id") not in ids:
            yield Breach(f"{where}.tool_call_id", NO_CALL)
        elif role == "function" and message.get("name") not in names:
            yield Breach(f"{where}.name", NO_CALL)


def _is_of_schema(arguments: dict[str, Any], call: CallInMessage, expected: ExpectedAnswer) -> bool:
    """A schema that takes too long to tell is one that nobody can keep to."""
    schema = msgspec.json.decode(expected.tools[call.name])
    try:
        return try_misfit(arguments, schema, steps_max=steps_for(len(call.arguments))) is None
    except (SchemaTooCostly, RecursionError):
        return False
