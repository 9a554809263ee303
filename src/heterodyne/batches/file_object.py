"""Pure: a file as it is kept, and as OpenAI's clients know it."""

import secrets
from typing import Any, Final

import msgspec

from heterodyne.ports.document_store import Document

KIND: Final = "file"


def new_file_id() -> str:
    """Nobody can guess it."""
    return f"file-{secrets.token_hex(16)}"


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
    """To be added."""
    told: dict[str, Any] = {
        "id": id,
        "object": "file",
        "bytes": size_bytes,
        "created_at": int(created_at),
        "filename": filename,
        "purpose": purpose,
        "status": "processed",
    }
    if is_expiry_told:
        told["expires_at"] = int(expires_at)
    return Document(
        id=id,
        project=project,
        kind=KIND,
        created_at=created_at,
        expires_at=expires_at,
        body=msgspec.json.encode(told),
    )
