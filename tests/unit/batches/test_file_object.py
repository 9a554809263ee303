"""A file as it is told and kept."""

import json

import pytest

from heterodyne.batches.file_object import ID_BYTES, file_document, file_id, file_object, is_file_id


@pytest.mark.parametrize("is_expiry_told", [True, False])
def test_a_document_tells_of_its_file(is_expiry_told: bool) -> None:
    document = file_document(
        "acme/search",
        id="file-1",
        filename="ä.jsonl",
        purpose="batch_output",
        size_bytes=12,
        created_at=1000.75,
        expires_at=2000.5,
        is_expiry_told=is_expiry_told,
    )
    told = {
        "id": "file-1",
        "object": "file",
        "bytes": 12,
        "created_at": 1000,
        "filename": "ä.jsonl",
        "purpose": "batch_output",
        "status": "processed",
    }
    assert json.loads(document.body) == (told | {"expires_at": 2000} if is_expiry_told else told)
    assert (document.kind, document.project, document.parent) == ("file", "acme/search", "batch_output")
    assert (document.created_at, document.expires_at) == (1000.75, 2000.5)
    assert file_object(document).bytes == 12


def test_ids_are_known_by_their_form() -> None:
    assert is_file_id(file_id(bytes(ID_BYTES)))
    for other in ("file-1", "notes.txt", file_id(bytes(ID_BYTES)) + "0", file_id(bytes(ID_BYTES)).upper()):
        assert not is_file_id(other)
