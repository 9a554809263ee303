"""A small request of our own for one replica, as its purpose has it."""

import msgspec

from heterodyne.domain.fleet import Purpose, Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request


def try_own_question(replica: Replica, id: str, text: str, *, tokens: int) -> Request | None:
    """What asks for an answer of so many tokens; None: which tensors it takes nobody here knows."""
    if replica.purpose is Purpose.INFER:
        return None
    if replica.purpose is Purpose.EMBED:
        body = msgspec.json.encode({"model": replica.model, "input": text})
        return Request(id=id, operation=Operation.EMBEDDING, model=replica.model, body=body)
    body = msgspec.json.encode(
        {
            "model": replica.model,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": tokens,
            "temperature": 0,
        }
    )
    return Request(id=id, operation=Operation.CHAT, model=replica.model, body=body)
