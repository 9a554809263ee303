"""A conversation cut to fit: its oldest turns are left out, where the client has asked for that.

What the model is told before everything else stays, and so does the last turn. A tool's result is left out with the
call it answers.
"""

from typing import Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.domain.request import Request
from heterodyne.engines.json_edit import put

SHARE_MIN: Final = 0.01  # of a conversation; where that is too long, what stays is
SHORTER: Final = 0.7  # than the last time
MARGIN: Final = 0.9  # of what should fit: tokens are estimated


class _Turn(Struct):
    role: str = ""


class _Conversation(Struct):
    messages: list[Raw]


_decode = msgspec.json.Decoder(_Conversation).decode
_decode_turn = msgspec.json.Decoder(_Turn).decode
_encode = msgspec.json.encode


def next_share(request: Request, prompt_tokens: int, context_tokens: int | None) -> float | None:
    """How much of it to try after an engine has found it too long; None: it may not be cut any more."""
    share = request.kept_share
    if share is None or share < SHARE_MIN:
        return None
    if share == 1.0 and context_tokens is not None and prompt_tokens > context_tokens:
        left = max(context_tokens - (request.output_tokens_max or 0), 1)
        return min(SHORTER, MARGIN * left / prompt_tokens)
    return share * SHORTER


def shortened(body: bytes, share: float) -> bytes:
    """The body of a chat with so much of its turns as they are in it; the same bytes where none may be left out."""
    turns = _decode(body).messages
    roles = [_decode_turn(turn).role for turn in turns]
    first = next((place for place, role in enumerate(roles) if role not in ("system", "developer")), len(turns))
    over = sum(map(len, turns)) * (1.0 - share)
    start = first
    while start < len(turns) - 1 and (over > 0.0 or roles[start] == "tool"):
        over -= len(turns[start])
        start += 1
    if start == first:
        return body
    return put(body, {"messages": _encode([*turns[:first], *turns[start:]])})
