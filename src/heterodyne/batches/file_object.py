"""Pure: a file as OpenAI's Files API tells it, and the document that is kept of it. Its bytes are elsewhere."""

import re
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from heterodyne.ports.document_store import Document

KIND: Final = "file"
ID_BYTES: Final = 24  # drawn at random, for nobody is to guess an id
BATCH: Final = "batch"
PURPOSES: Final = ("assistants", BATCH, "fine-tune", "vision", "user_data", "evals")  # that clients may name


class FileObject(Struct, frozen=True, kw_only=True):
    """A file; times in seconds since the epoch."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    expires_at: int | UnsetType = UNSET
    filename: str
    purpose: str
    status: Literal["processed"] = "processed"


_ID: Final = re.compile(f"file-[0-9a-f]{{{2 * ID_BYTES}}}")
_decoder = msgspec.json.Decoder(FileObject)


def file_id(drawn: bytes) -> str:
    """The id of a new file, of as many random bytes as there are to be."""
    assert len(drawn) == ID_BYTES
    return f"file-{drawn.hex()}"


def is_file_id(name: str) -> bool:
    """Whether it may be one; where contents are kept there may be things of others."""
    return _ID.fullmatch(name) is not None


def file_document(
    project: str,
    *,
    id: str,
    filename: str,
    purpose: str,
    size_bytes: int,
    created_at: float,
    expires_at: float,
    is_expiry_told: bool,
) -> Document:
    """What is kept of a file whose bytes are there by its id. It is filed under its purpose, by which lists ask."""
    told = FileObject(
        id=id,
        bytes=size_bytes,
        created_at=int(created_at),
        expires_at=int(expires_at) if is_expiry_told else UNSET,
        filename=filename,
        purpose=purpose,
    )
    return Document(
        id=id,
        project=project,
        kind=KIND,
        parent=purpose,
        created_at=created_at,
        expires_at=expires_at,
        body=msgspec.json.encode(told),
    )


def file_object(document: Document) -> FileObject:
    """What a document tells of its file."""
    return _decoder.decode(document.body)
