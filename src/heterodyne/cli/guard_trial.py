"""What policies would do with a text, or with the body of a request or of an answer, as `guards try` tells it."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from heterodyne.domain.errors import InvalidSpec
from heterodyne.safety.answer_check import check_answer
from heterodyne.safety.guarded import Guarded
from heterodyne.safety.placeholders import NOTHING
from heterodyne.safety.policy import GuardPlan, GuardRule
from heterodyne.safety.request_check import check_request

ASKS: Final = ("messages", "prompt", "input")  # members by which a request's body is known


class Tried(NamedTuple):
    """The outcome."""

    guarded: Guarded
    left: str  # what would go on
    is_body: bool  # places in it are paths, and not lines and columns


def looks_at(rules: Sequence[GuardRule], *, is_answer: bool) -> bool:
    """Whether any of them finds something on this way; some only read what an answer may be."""
    return any(is_answer or rule.direction != "output" for rule in rules)


def tried(plan: GuardPlan, text: str, *, is_answer: bool, request: str | None) -> Tried:
    """A text that is JSON with messages, or with choices, is a body; any other is what somebody says."""
    body = _body(text, ("choices",) if is_answer else ASKS)
    if not is_answer:
        guarded, made = check_request(plan.input, body or msgspec.json.encode({"content": text}))
        return Tried(guarded, made.decode() if body else msgspec.json.decode(made)["content"], bool(body))
    asked = b"" if request is None else _body(request, ASKS)
    if request is not None and not asked:
        raise InvalidSpec(f"--request: its body is expected, in JSON with one of {', '.join(ASKS)}")
    expected = check_request(plan.input, asked)[0].expected if asked else b""
    said = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    guarded, made = check_answer(
        plan.output, NOTHING, body or msgspec.json.encode({"choices": [said]}), expected=expected
    )
    left = made.decode() if body else msgspec.json.decode(made)["choices"][0]["message"]["content"]
    return Tried(guarded, left, bool(body))


def _body(text: str, members: Sequence[str]) -> bytes:
    """Empty: it is none."""
    try:
        document: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return b""
    is_body = isinstance(document, dict) and any(isinstance(document.get(name), (list, str)) for name in members)
    return text.encode() if is_body else b""
