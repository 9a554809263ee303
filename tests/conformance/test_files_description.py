"""Files, held against the description that OpenAI publishes."""

from pathlib import Path

import pytest
from openai import AsyncOpenAI

from heterodyne.batches.file_object import PURPOSES
from heterodyne.testing import behaviours
from tests.conformance.conftest import Check
from tests.support.gateways import gateway_over

UNDESCRIBED = {"evals"}  # may be sent, and is not among what a file may have been sent for


@pytest.mark.parametrize("purpose", sorted(set(PURPOSES) - UNDESCRIBED))
async def test_files_are_as_described(tmp_path: Path, check: Check, purpose: str) -> None:
    stores = {"url": f"sqlite:{tmp_path / 'documents.db'}"}
    async with (
        gateway_over(behaviours.answer(), stores=stores) as rig,
        AsyncOpenAI(base_url=f"http://127.0.0.1:{rig.port}/v1", api_key="none", max_retries=0, timeout=30) as client,
    ):
        made = await client.post(
            "/files",
            body={"purpose": purpose},
            files={"file": ("x.jsonl", b"{}\n")},
            options={"headers": {"content-type": "multipart/form-data"}},
            cast_to=object,
        )
        assert isinstance(made, dict)
        check("OpenAIFile", made)
        check("OpenAIFile", await client.get(f"/files/{made['id']}", cast_to=object))
        check("ListFilesResponse", await client.get("/files", cast_to=object))
        check("DeleteFileResponse", await client.delete(f"/files/{made['id']}", cast_to=object))
