"""A turn of a Responses conversation, with what it follows put before what it says."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.domain.errors import BodyTooLarge, InvalidField
from heterodyne.engines.json_edit import put
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.responses_fields import ResponsesFields, conversation_id, decoder
from heterodyne.gateway.forms.responses_kept import KIND, REFERENCE, input_items
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.keeper import ITEM
from heterodyne.gateway.stored.running import decode_stored, is_running
from heterodyne.ports.document_store import Document

CONVERSATION: Final = "conversation"
PREVIOUS: Final = "previous_response_id"
MEMBERS: Final = (b'"previous_response_id"', b'"conversation"')

Recalled = Callable[[Documents, str], Awaitable[bytes]]  # for a project, the whole body


class KeptOutput(Struct):
    """What a response said."""

    output: list[Raw] = []


class ReferenceItem(Struct):
    """An item, which may name another."""

    type: str = ""
    id: str | None = None


_decode_output = msgspec.json.Decoder(KeptOutput).decode
_decode_reference = msgspec.json.Decoder(ReferenceItem).decode


def try_recall(body: bytes) -> Recalled | None:
    """What has to be looked up first; None: nothing, as in most bodies."""
    if body.find(MEMBERS[0]) < 0 and body.find(MEMBERS[1]) < 0:
        return None
    turn = decode(decoder, body)  # what is wrong with it is told by its own places, before others stand before them
    if turn.previous_response_id and turn.conversation:
        raise InvalidField("conversation: a turn follows a response or a conversation, not both.", param=CONVERSATION)
    if not turn.previous_response_id and not turn.conversation:
        return None

    async def recalled(documents: Documents, project: str) -> bytes:
        items: list[bytes] = []
        for item in (*await _followed(documents, project, turn), *input_items(body)):
            items.append(_resolved(item, items))
        return _with_input(body, items, documents.bytes_max)

    return recalled


async def _followed(documents: Documents, project: str, turn: ResponsesFields) -> list[bytes]:
    if turn.previous_response_id:
        chain = await documents.chain(project, KIND, turn.previous_response_id)
        if not chain:
            raise InvalidField(
                f"{PREVIOUS}: there is no response {turn.previous_response_id[:100]!r}, or one before it is gone.",
                param=PREVIOUS,
            )
        if is_running(chain[-1]):
            raise InvalidField(f"{PREVIOUS}: the response is not complete yet.", param=PREVIOUS)
        return [item for document in chain for item in items_of(document)]
    conversation = await documents.get(project, CONVERSATION, conversation_id(turn.conversation))
    return [document.body for document in await documents.children(conversation, ITEM)]


def items_of(document: Document) -> list[bytes]:
    """What was asked and said in one turn."""
    kept = decode_stored(document.body)
    return [bytes(item) for item in (*kept.input, *_decode_output(kept.response).output)]


def _resolved(item: bytes, known: list[bytes]) -> bytes:
    """The item that another is named by."""
    named = _decode_reference(item)
    if named.type != REFERENCE:
        return item
    found = next((one for one in known if _decode_reference(one).id == named.id), None)
    if found is None:
        raise InvalidField(f"input: no item before this turn has the id {(named.id or '')[:100]!r}.", param="input")
    return found


def _with_input(body: bytes, items: list[bytes], bytes_max: int) -> bytes:
    whole = b"[%b]" % b",".join(items)
    if len(body) + len(whole) > bytes_max:
        raise BodyTooLarge(f"With what it follows, the turn has more than {bytes_max} bytes, which is the limit.")
    return put(body, {"input": whole})
