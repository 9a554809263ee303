"""How events of a stream look that differ in their words alone, so that these can be taken and put without reading it.

Nearly every token comes in such an event, and reading JSON is most of what looking at one costs.
"""

from typing import Any, Final, final

import msgspec

KEY: Final = b'"content":'
_encode = msgspec.json.Encoder().encode


@final
class EventShape:
    """What stands before and behind the words of a choice."""

    __slots__ = ("_head", "_head_bytes", "_tail", "_tail_bytes", "index")

    def __init__(self, head: bytes, tail: bytes, index: int) -> None:
        self._head, self._head_bytes = head, len(head)
        self._tail, self._tail_bytes = tail, len(tail)
        self.index = index

    def try_text(self, data: bytes) -> str | None:
        """The words of an event of this shape; None: it has another, or its words have to be read."""
        if not data.startswith(self._head) or not data.endswith(self._tail):
            return None
        words = data[self._head_bytes : len(data) - self._tail_bytes]
        # A quote ends the words, and something else follows before the same end.
        if words.find(b"\\") >= 0 or words.find(b'"') >= 0 or len(data) < self._head_bytes + self._tail_bytes:
            return None
        try:
            return words.decode()
        except UnicodeDecodeError:
            return None

    def event(self, text: str) -> bytes:
        """The event that says this."""
        return b"".join((self._head, _encode(text)[1:-1], self._tail))


def try_shape(data: bytes, choices: list[Any]) -> EventShape | None:
    """The shape of an event that says nothing but words of one choice; None of any other."""
    choice = choices[0]
    if len(choices) != 1 or type(choice) is not dict or choice.get("finish_reason") or choice.get("logprobs"):
        return None
    delta, index = choice.get("delta"), choice.get("index", 0)
    if type(delta) is not dict or delta.keys() != {"content"} or not delta["content"] or type(index) is not int:
        return None
    at = data.find(KEY)
    if at < 0 or data.count(KEY) != 1:
        return None
    at += len(KEY)
    at += data[at : at + 1] == b" "
    words = _encode(delta["content"])
    if not data.startswith(words, at):
        return None
    return EventShape(data[: at + 1], data[at + len(words) - 1 :], index)
