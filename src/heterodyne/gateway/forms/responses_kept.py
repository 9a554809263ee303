"""A response that is complete: as its client gets it, and as it is kept for the turns that follow."""

import msgspec
from msgspec import Raw

from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.responses_fields import conversation_id
from heterodyne.gateway.forms.kept import KeptObject
from heterodyne.gateway.forms.responses_words import ResponseWords, encode, new_id

KIND = "response"
PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}
OTHER_PREFIX = "item"
REFERENCE = "item_reference"
COMPLETED = Raw(b'"completed"')


class AskedInput(msgspec.Struct):
    """What the turn adds to what it follows."""

    input: Raw = Raw(b'""')


class TypedItem(msgspec.Struct):
    """Of an item, what it is and whose."""

    type: str = "message"
    role: str = ""


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
        is_begun = bool(self._request.stored_id)
        streamed = b',"is_streamed":true' if is_begun and self._request.stream else b""
        return KeptObject(
            kind=KIND,
            id=words.id,
            parent=words.asked.previous_response_id or "",
            body=b'{"response":%b,"input":[%b]%b}' % (self.response(is_kept=True), b",".join(asked), streamed),
            conversation=conversation_id(words.asked.conversation),
            items=asked + self._output,
            is_begun=is_begun,
        )


def input_items(body: bytes) -> list[bytes]:
    """What a turn says, each item with an id and a type."""
    asked = bytes(_decode_input(body).input)
    if not asked.startswith(b"["):
        return [named_item(b'{"role":"user","content":%b}' % asked)]
    return [named_item(bytes(item)) for item in _decode_items(asked)]


def named_item(item: bytes) -> bytes:
    """The same as it is told again, under an id of ours: one that it brings may be somebody else's."""
    typed = _decode_typed(item)
    kind = typed.type
    if kind == REFERENCE:
        return item
    members = _decode_members(item)
    if kind == "message":
        members |= {"content": _parts(members.get("content"), typed.role), "status": COMPLETED}
    members |= {"id": Raw(encode(new_id(PREFIXES.get(kind, OTHER_PREFIX)))), "type": Raw(encode(kind))}
    return encode(members)


def _parts(content: Raw | None, role: str) -> Raw:
    """What a message says, in parts."""
    text = b"" if content is None else bytes(content)
    if not text.startswith(b'"'):
        return Raw(text or b"[]")
    if role == "assistant":
        return Raw(b'[{"type":"output_text","annotations":[],"logprobs":[],"text":%b}]' % text)
    return Raw(b'[{"type":"input_text","text":%b}]' % text)
