"""How an answer that broke off is taken up: the same request with what was said at its end.

Sound only for one plain text: what constrains the answer (tools, schemas, grammars) or describes its tokens (log
probabilities, echo) refers to an answer from its beginning. The text is read again, so a cut inside a word may be
tokenized in another way than it was written; sampling and penalties begin anew, so only greedy answers go on as they
would have.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.json_edit import put
from heterodyne.engines.lengths import AT_LEAST, AT_MOST
from heterodyne.ports.engine import DeliveredText

GO_ON = {"continue_final_message": b"true", "add_generation_prompt": b"false"}  # as vLLM spells it
# Members that forbid it, unless they are null, false, empty or the value given here.
UNSOUND: dict[str, object] = {
    "tools": None,
    "functions": None,
    "tool_choice": "none",
    "function_call": "none",
    "response_format": {"type": "text"},
    "logprobs": None,
    "top_logprobs": 0,
    "prompt_logprobs": None,
    "echo": None,
    "suffix": None,
    "best_of": 1,
    "use_beam_search": None,
    "audio": None,
    # engines' own words for constrained answers
    "structured_outputs": None,
    "guided_json": None,
    "guided_regex": None,
    "guided_choice": None,
    "guided_grammar": None,
    "structural_tag": None,
    "json_schema": None,
    "regex": None,
    "ebnf": None,
    "grammar": None,
    # what counts from the beginning of the answer
    **dict.fromkeys(AT_MOST),
    **dict.fromkeys(AT_LEAST, 0),
    "thinking_token_budget": None,
    "return_token_ids": None,
}
LIMITS = ("max_completion_tokens", "max_tokens")  # the first wins, as it does at the door

Members = dict[str, msgspec.Raw]
_members = msgspec.json.Decoder(Members).decode
_encode = msgspec.json.encode


def continue_chat(request: Request, delivered_text: DeliveredText, go_on: Mapping[str, bytes]) -> Request | None:
    """With the assistant's words as the last message, and the members that tell the engine to go on with them."""
    members = _sound(request, delivered_text, Operation.CHAT)
    if members is None or _value(members, "add_generation_prompt") is False:
        return None
    messages = _value(members, "messages")
    if not isinstance(messages, list) or not messages or messages[-1].get("role") == "assistant":
        return None
    words = {"role": "assistant", "content": delivered_text.text}
    return _continued(request, delivered_text, members, {"messages": _encode([*messages, words]), **go_on}, None)


def continue_text(request: Request, delivered_text: DeliveredText, *, tokens_default: int | None) -> Request | None:
    """With what was said behind the prompt; a prompt of token ids has no text to put it behind.

    `tokens_default` is how many tokens the engine writes by default; None: until the model ends.
    """
    members = _sound(request, delivered_text, Operation.COMPLETION)
    prompt = None if members is None else _value(members, "prompt")
    if members is None or not isinstance(prompt, str):
        return None
    if _limit(request, members) is None and tokens_default is not None and tokens_default <= delivered_text.tokens:
        return None
    return _continued(
        request, delivered_text, members, {"prompt": _encode(prompt + delivered_text.text)}, tokens_default
    )


def _sound(request: Request, delivered_text: DeliveredText, operation: Operation) -> Members | None:
    """The members of the body, or None where this answer cannot be taken up."""
    if request.operation is not operation or request.choices != 1 or not delivered_text.text:
        return None
    if delivered_text.text[-1].isspace():
        # Words carry the space before them: behind a space the model would have to begin in the middle of one, and
        # chat templates that trim a message would have it write the space again.
        return None
    members = _members(request.body)
    if not all(_is_harmless(name, _value(members, name)) for name in UNSOUND.keys() & members.keys()):
        return None
    limit = _limit(request, members)
    return None if limit is not None and limit <= delivered_text.tokens else members


def _is_harmless(name: str, value: object) -> bool:
    """A zero is no false: `"logprobs": 0` asks for log probabilities."""
    return value is None or value is False or value in ([], {}, "") or value == UNSOUND[name]


def _continued(
    request: Request,
    delivered_text: DeliveredText,
    members: Members,
    changes: dict[str, bytes],
    tokens_default: int | None,
) -> Request:
    left = None
    limit = _limit(request, members) or tokens_default
    if limit is not None:
        left = limit - delivered_text.tokens
        named = [name for name in LIMITS if isinstance(_value(members, name), int)] or ["max_tokens"]
        changes |= {name: _encode(left) for name in named}
    continued = request.copied()
    continued.body = put(request.body, changes)
    continued.prompt_chars += len(delivered_text.text)
    continued.output_tokens_max = left
    return continued


def _limit(request: Request, members: Members) -> int | None:
    for name in LIMITS:
        value = _value(members, name)
        if isinstance(value, int):
            return value
    return request.output_tokens_max


def _value(members: Members, name: str) -> Any:
    return msgspec.json.decode(members[name]) if name in members else None
