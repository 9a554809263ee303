"""Calls of tools in requests and in answers, and what policies make of them."""

import json
from typing import Any

from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.answer_check import check_answer
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.request_check import check_request
from heterodyne.safety.settings import GuardSettings
from tests.support.guards import plan

READ = {
    "type": "function",
    "function": {
        "name": "read",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


def call(name: str, arguments: object, *, id: str = "call_1") -> dict[str, Any]:
    """One call; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def asked(*messages: dict[str, Any], **fields: Any) -> bytes:
    """A request; without messages it has one."""
    said = messages or ({"role": "user", "content": "hello"},)
    return json.dumps({"model": "m", "messages": said, **fields}).encode()


def calling(*calls: dict[str, Any], content: str | None = None, finish: str = "tool_calls") -> bytes:
    """An answer that calls."""
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    return json.dumps({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}).encode()


def checked(
    policy: GuardSettings, request: bytes, answer: bytes
) -> tuple[list[tuple[str, str]], dict[str, Any], tuple[GuardVerdict, ...]]:
    """Rule and place of what was found in the answer to a request, its first choice, and the verdicts."""
    found = plan({"one": policy})
    before, _ = check_request(found.input, request)
    guarded, body = check_answer(found.output, NOTHING, answer, expected=before.expected)
    return [(one.rule, one.where) for one in guarded.verdicts], json.loads(body)["choices"][0], guarded.verdicts
