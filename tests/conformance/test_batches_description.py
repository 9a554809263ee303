"""Batches, held against the description that OpenAI publishes."""

from pathlib import Path

from openai import AsyncOpenAI

from heterodyne.testing import behaviours
from tests.conformance.conftest import Check
from tests.support.gateways import gateway_over


async def test_batches_are_as_described(tmp_path: Path, check: Check) -> None:
    stores = {"url": f"sqlite:{tmp_path / 'documents.db'}"}
    async with (
        gateway_over(behaviours.answer(), stores=stores) as rig,
        AsyncOpenAI(base_url=f"http://127.0.0.1:{rig.port}/v1", api_key="none", max_retries=0, timeout=30) as client,
    ):
        file = await client.files.create(file=("x.jsonl", b"{}\n"), purpose="batch")
        asked = {"input_file_id": file.id, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
        made = await client.post("/batches", body=asked, cast_to=object)
        assert isinstance(made, dict)
        check("Batch", made)
        check("Batch", await client.get(f"/batches/{made['id']}", cast_to=object))
        check("ListBatchesResponse", await client.get("/batches", cast_to=object))
        check("Batch", await client.post(f"/batches/{made['id']}/cancel", cast_to=object))
