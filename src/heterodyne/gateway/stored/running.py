"""Kept responses that are not complete yet: how they are told from others, and changed."""

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.ports.document_store import Document

RUNNING: Final = ("queued", "in_progress")
GRACE_S: Final = 60.0  # after its deadline, until it is taken for lost
LOST: Final = {"code": "server_error", "message": "The gateway that ran the response has ended before it."}


class RunningStatus(Struct):
    """Of a response, how it stands."""

    status: str = ""
    background: bool = False


class StoredResponse(Struct, omit_defaults=True):
    """A response as it is kept."""

    response: Raw
    input: list[Raw] = []
    running_until: float | None = None  # of one that is not complete
    is_streamed: bool = False  # in the background: its events are kept


decode_stored = msgspec.json.Decoder(StoredResponse).decode
_decode_status = msgspec.json.Decoder(RunningStatus).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
encode_stored = msgspec.json.Encoder().encode


def is_running(document: Document) -> bool:
    """Whether it is still to be answered."""
    return status_of(document) in RUNNING


def is_lost(document: Document, now: float) -> bool:
    """Whether the worker that ran it has died."""
    until = decode_stored(document.body).running_until
    return until is not None and now >= until + GRACE_S and is_running(document)


def status_of(document: Document) -> str:
    """As it was last written down."""
    return _decode_status(decode_stored(document.body).response).status


def is_background(document: Document) -> bool:
    """Whether nobody waits for it."""
    return _decode_status(decode_stored(document.body).response).background


def changed(document: Document, **members: Any) -> bytes:
    """The body with other members of the response."""
    kept = decode_stored(document.body)
    response = _decode_members(kept.response)
    response |= {name: Raw(encode_stored(value)) for name, value in members.items()}
    return encode_stored(StoredResponse(Raw(encode_stored(response)), kept.input, kept.running_until, kept.is_streamed))


def completed(document: Document, response: bytes) -> bytes:
    """The body with the response that it has come to."""
    members = _decode_members(response) | {"store": Raw(b"true")}
    kept = decode_stored(document.body)
    return encode_stored(StoredResponse(Raw(encode_stored(members)), kept.input, is_streamed=kept.is_streamed))


def as_it_stands(document: Document, now: float) -> bytes:
    """The response; one whose worker died has failed."""
    body = changed(document, status="failed", error=LOST) if is_lost(document, now) else document.body
    return bytes(decode_stored(body).response)
