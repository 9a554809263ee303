"""A response that is complete: as its client gets it, and as it is kept for the turns that follow."""

import msgspec
from msgspec import Raw

from heterodyne.domain.request import Request
from heterodyne.gateway.forms.kept import KeptObject
from heterodyne.gateway.forms.responses_words import ResponseWords, encode, new_id

KIND = "response"
PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
OTHER_PREFIX = "item"
REFERENCE = "item_reference"


class AskedInput(msgspec.Struct):
    """What the turn adds to what it follows."""

    input: Raw = Raw(b'""')


class TypedItem(msgspec.Struct):
    """Of an item, what it is."""

    type: str = "message"


_decode_input = msgspec.json.Decoder(AskedInput).decode
_decode_items = msgspec.json.Decoder(list[Raw]).decode
_decode_typed = msgspec.json.Decoder(TypedItem).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


class KeptResponse:
    """One that has come to its end."""

    def __init__(
        self, request: Request, words: ResponseWords, *, status: str, output: list[bytes], usage: bytes, reason: str
    ) -> None:
        self._request = request
        self._words = words
        self.status = status
        self._output = output
        self._usage = usage
        self._reason = reason

    def response(self, *, is_kept: bool) -> bytes:
        """As its client gets it."""
        output = b"[%b]" % b",".join(self._output)
        return self._words.response(self.status, output, usage=self._usage, reason=self._reason, is_stored=is_kept)

    def kept(self) -> KeptObject:
        words = self._words
        asked = input_items(self._request.received_body)
        return KeptObject(
            kind=KIND,
            id=words.id,
            parent=words.asked.previous_response_id or "",
            body=b'{"response":%b,"input":[%b]}' % (self.response(is_kept=True), b",".join(asked)),
            conversation=words.asked.conversation_id,
            items=asked + self._output,
            is_begun=bool(self._request.stored_id),
        )


def input_items(body: bytes) -> list[bytes]:
    """What a turn says, each item with an id and a type."""
    asked = bytes(_decode_input(body).input)
    if not asked.startswith(b"["):
        part = encode([{"type": "input_text", "text": msgspec.json.decode(asked, type=str)}])
        return [b'{"id":"%b","type":"message","role":"user","content":%b}' % (new_id("msg").encode(), part)]
    return [named_item(bytes(item)) for item in _decode_items(asked)]


def named_item(item: bytes) -> bytes:
    """The same with an id and a type; those that it brings are its client's own and may be somebody else's."""
    kind = _decode_typed(item).type
    if kind == REFERENCE:
        return item
    members = _decode_members(item)
    members |= {"id": Raw(encode(new_id(PREFIXES.get(kind, OTHER_PREFIX)))), "type": Raw(encode(kind))}
    return encode(members)
