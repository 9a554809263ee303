"""What a user of OpenAI's own client sees of the Files API."""

import io
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from heterodyne.stores.files.open_contents import own_folder, uploads_folder
from heterodyne.testing import behaviours
from heterodyne.testing.serve_process import ServeProcess
from tests.support.gateways import Rig, gateway_over

LINES = b'{"custom_id": "a"}\n' * 3


def test_a_served_gateway_keeps_files(served: ServeProcess) -> None:
    with OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0, timeout=100) as client:
        made = client.files.create(file=("in.jsonl", LINES), purpose="batch")
        assert (made.filename, made.bytes, made.purpose, made.status) == ("in.jsonl", len(LINES), "batch", "processed")
        assert client.files.retrieve(made.id) == made
        assert client.files.content(made.id).content == LINES
        assert made.id in [one.id for one in client.files.list(purpose="batch")]
        deleted = client.files.delete(made.id)
        assert (deleted.id, deleted.deleted, deleted.object) == (made.id, True, "file")
        for call in (client.files.retrieve, client.files.content, client.files.delete):
            with pytest.raises(openai.NotFoundError):
                call(made.id)


@asynccontextmanager
async def sending(tmp_path: Path, **settings: Any) -> AsyncIterator[tuple[Rig, AsyncOpenAI]]:
    stores = {"url": f"sqlite:{tmp_path / 'documents.db'}"}
    async with (
        gateway_over(behaviours.answer(), stores=stores, **settings) as rig,
        AsyncOpenAI(base_url=f"http://127.0.0.1:{rig.port}/v1", api_key="none", max_retries=0, timeout=60) as client,
    ):
        yield rig, client


async def test_files_are_kept_listed_read_and_deleted(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    async with sending(tmp_path, gateway={"body_bytes_max": 100_000}) as (rig, client):
        first = await client.files.create(file=("a/b c.bin", content), purpose="user_data")
        assert (first.filename, first.bytes, first.object) == ("b c.bin", len(content), "file")
        assert first.id.startswith("file-")
        assert rig.holds().body_bytes == 0
        second = await client.files.create(
            file=io.BytesIO(LINES), purpose="batch", expires_after={"anchor": "created_at", "seconds": 3600}
        )
        assert second.expires_at == second.created_at + 3600
        empty = await client.files.create(file=("empty", b""), purpose="evals")
        assert (await client.files.content(empty.id)).content == b""
        assert [one.id async for one in client.files.list()] == [empty.id, second.id, first.id]
        assert [one.id async for one in client.files.list(limit=1, order="asc")] == [first.id, second.id, empty.id]
        assert [one.id async for one in client.files.list(purpose="batch")] == [second.id]
        assert (await client.files.content(first.id)).content == content
        async with client.files.with_streaming_response.content(first.id) as streamed:
            assert streamed.headers["content-type"] == "application/octet-stream"
            assert b"".join([piece async for piece in streamed.iter_bytes()]) == content
        folder = own_folder(f"sqlite:{tmp_path / 'documents.db'}", os.environ)
        assert {path.name for path in folder.iterdir()} == {first.id, second.id, empty.id}
        await client.files.delete(first.id)
        assert {path.name for path in folder.iterdir()} == {second.id, empty.id}
        assert list(uploads_folder(os.environ).iterdir()) == []
