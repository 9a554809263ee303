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


decode_stored = msgspec.json.Decoder(StoredResponse).decode
_decode_status = msgspec.json.Decoder(RunningStatus).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_encode = msgspec.json.Encoder().encode


def is_running(document: Document) -> bool:
    """Whether it is still to be answered."""
    return _decode_status(decode_stored(document.body).response).status in RUNNING


def is_background(document: Document) -> bool:
    """Whether nobody waits for it."""
    return _decode_status(decode_stored(document.body).response).background


def changed(document: Document, **members: Any) -> bytes:
    """The body with other members of the response."""
    kept = decode_stored(document.body)
    response = _decode_members(kept.response)
    response |= {name: Raw(_encode(value)) for name, value in members.items()}
    return _encode(StoredResponse(Raw(_encode(response)), kept.input, kept.running_until))


def completed(document: Document, response: bytes) -> bytes:
    """The body with the response that it has come to."""
    members = _decode_members(response) | {"store": Raw(b"true")}
    return _encode(StoredResponse(Raw(_encode(members)), decode_stored(document.body).input))


def as_it_stands(document: Document, now: float) -> bytes:
    """The response; one whose worker died has failed."""
    kept = decode_stored(document.body)
    if kept.running_until is None or now < kept.running_until + GRACE_S or not is_running(document):
        return bytes(kept.response)
    return bytes(decode_stored(changed(document, status="failed", error=LOST)).response)
