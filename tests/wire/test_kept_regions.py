"""What may not rest where this gateway keeps things is refused before anything is kept, and the rest is answered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heterodyne.domain.tenant import Scopes
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.gateway.stored.inner_call import KEPT_IN_FILE, KEY_ID, InnerCall
from heterodyne.testing import behaviours
from heterodyne.wire.message import HttpRequest
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL, chat, chat_body, get, post
from tests.support.tenants import bearer, caller, tenants

PINNED, FREE = bearer("pinned"), bearer("free")
HELD = caller(scopes=(Scopes(regions=("eu",)),))
KEYS = tenants(pinned=HELD, free=caller("acme/free"))
CHATS, RESPONSES = "/v1/chat/completions", "/v1/responses"
FORM = (
    b'--boundary\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
    b'--boundary\r\ncontent-disposition: form-data; name="file"; filename="x.jsonl"\r\n\r\n{}\r\n--boundary--\r\n'
)
MESSAGE = {
    "custom_id": "a",
    "params": {"model": MODEL, "max_tokens": 3, "messages": [{"role": "user", "content": "hi"}]},
}


def sent(path: str, key: str, **fields: object) -> bytes:
    return post(path, msgspec.json.encode(fields), key)


def upload(key: str) -> bytes:
    head = f"host: localhost\r\n{key}\r\ncontent-type: multipart/form-data; boundary=boundary\r\n"
    return f"POST /v1/files HTTP/1.1\r\n{head}content-length: {len(FORM)}\r\n\r\n".encode() + FORM


def keeping(key: str) -> dict[str, bytes]:
    """Everything that would leave words in the database."""
    turn = {"model": MODEL, "input": "hi"}
    item = {"type": "message", "role": "user", "content": "hi"}
    return {
        "a response": sent(RESPONSES, key, **turn),
        "a background response": sent(RESPONSES, key, **turn, background=True),
        "a completion": chat(key, store=True),
        "a conversation": sent("/v1/conversations", key, items=[item]),
        "items": sent("/v1/conversations/conv_1/items", key, items=[item]),
        "metadata": sent("/v1/conversations/conv_1", key, metadata={"of": "hi"}),
        "a completion's metadata": sent(f"{CHATS}/chatcmpl-1", key, metadata={"of": "hi"}),
    }


def filing(key: str) -> dict[str, bytes]:
    """Everything that would leave words in files."""
    batch = {"input_file_id": "file-1", "endpoint": CHATS, "completion_window": "24h"}
    return {
        "a file": upload(key),
        "a batch": sent("/v1/batches", key, **batch),
        "a batch of messages": sent("/v1/messages/batches", key, requests=[MESSAGE]),
    }


@asynccontextmanager
async def keeper(tmp_path: Path, *, documents: tuple[str, ...] = (), files: tuple[str, ...] = ()) -> AsyncIterator[Rig]:
    stores: dict[str, Any] = {"url": f"sqlite:{tmp_path / 'documents.db'}", "regions": documents}
    where = {"files_regions": files}
    async with gateway_over(
        behaviours.answer(), tenants=KEYS, pool={"region": "eu"}, stores=stores, gateway=where
    ) as rig:
        yield rig


@pytest.mark.parametrize("regions", [("us",), ("eu", "us")])
async def test_nothing_of_a_key_that_may_not_rest_there_is_kept(tmp_path: Path, regions: tuple[str, ...]) -> None:
    async with keeper(tmp_path, documents=regions) as rig:
        for what, request in {**keeping(PINNED), **filing(PINNED)}.items():
            refused = await ask(rig.port, request)
            assert (refused.status, refused.json["error"]["type"] != "") == (403, True), what
            assert "(stores.regions)" in refused.body.decode(), what
        assert not rig.engine.calls
        stored = await ask(rig.port, chat(PINNED, store=True))
        assert (stored.error["code"], stored.error["param"]) == ("not_allowed", "store")
        assert stored.error["message"].endswith("send store: false.")
        assert not (tmp_path / "documents.db").exists(), "nobody even looked"


async def test_what_keeps_nothing_is_answered_there(tmp_path: Path) -> None:
    async with keeper(tmp_path, documents=("us",), files=("us",)) as rig:
        assert (await ask(rig.port, chat(PINNED))).status == 200
        assert (await ask(rig.port, sent(RESPONSES, PINNED, model=MODEL, input="hi", store=False))).status == 200
        assert (await ask(rig.port, get("/v1/files", PINNED))).json["data"] == []
        assert (await ask(rig.port, get("/v1/responses/resp_1", PINNED))).status == 404


async def test_files_alone_may_be_elsewhere(tmp_path: Path) -> None:
    async with keeper(tmp_path, documents=("eu",), files=("us",)) as rig:
        for what, request in filing(PINNED).items():
            refused = await ask(rig.port, request)
            assert refused.status == 403, what
            assert "(gateway.files_regions)" in refused.body.decode(), what
        assert (await ask(rig.port, sent(RESPONSES, PINNED, model=MODEL, input="hi"))).status == 200


@pytest.mark.parametrize(("key", "regions"), [(PINNED, ("eu",)), (PINNED, ()), (FREE, ("us",))])
async def test_whoever_may_rest_there_keeps_as_ever(tmp_path: Path, key: str, regions: tuple[str, ...]) -> None:
    async with keeper(tmp_path, documents=regions, files=regions) as rig:
        for what in ("a response", "a background response", "a completion", "a conversation"):
            assert (await ask(rig.port, keeping(key)[what])).status == 200, what
        for what in ("a file", "a batch of messages"):
            assert (await ask(rig.port, filing(key)[what])).status == 200, what


async def test_lines_of_a_batch_from_before_the_key_was_held_are_refused_one_by_one(tmp_path: Path) -> None:
    async with keeper(tmp_path, files=("us",)) as rig:
        headers = {b"host": b"localhost", b"content-type": b"application/json", KEY_ID: HELD.key.encode()}
        for kept, status in ({}, 200), ({KEPT_IN_FILE: b""}, 403):
            http = HttpRequest(
                method=b"POST",
                path=CHATS.encode(),
                query=b"",
                headers={**headers, **kept},
                keep_alive=False,
                speaks_chunked=True,
            )
            http.body = chat_body()
            call: InnerCall = rig.server.ask(http)
            assert await call.is_done_within(30.0)
            assert call.answer().status == status


async def test_a_replica_whose_engine_leaves_kv_elsewhere_is_not_asked() -> None:
    far = {"far": KvStoreSettings(medium="redis", capacity_gb=1.0, regions=("us",))}
    pool = {"region": "eu", "engine": "vllm", "kv_store": "far"}
    async with gateway_over(behaviours.answer(), tenants=KEYS, pool=pool, kv_stores=far) as rig:
        refused = await ask(rig.port, chat(PINNED))
        assert (refused.status, len(rig.engine.calls)) == (503, 0)
        assert "in the regions of this key (eu)" in refused.error["message"]
        assert (await ask(rig.port, chat(FREE))).status == 200
