"""Files as bytes on the wire: forms that are none, clients that leave, disks that are full, readers that are slow."""

import asyncio
import os
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from heterodyne.stores.files.open_contents import own_folder, uploads_folder
from heterodyne.testing import behaviours
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, RawClient, ask, connected
from tests.support.requests import chat, get
from tests.support.tenants import bearer, caller, tenants

FORM = "content-type: multipart/form-data; boundary=boundary"
ADA, BOB = "hd_ada_0123456789", "hd_bob_0123456789"
BOTH = tenants(**{ADA: caller("acme/search"), BOB: caller("bobs/shop")})


def form(data: bytes = b"{}\n", purpose: str = "user_data") -> bytes:
    disposition = "--boundary\r\ncontent-disposition: form-data; name="
    before = f'{disposition}"purpose"\r\n\r\n{purpose}\r\n{disposition}"file"; filename="x.jsonl"\r\n\r\n'
    return before.encode() + data + b"\r\n--boundary--\r\n"


def post(body: bytes, *headers: str, length: int | None = None, declared: str = FORM) -> bytes:
    lines = "".join(f"{header}\r\n" for header in ("host: localhost", declared, *headers))
    size = len(body) if length is None else length
    return f"POST /v1/files HTTP/1.1\r\n{lines}content-length: {size}\r\n\r\n".encode() + body


class Place:
    """A gateway, and where its files are."""

    def __init__(self, rig: Rig, url: str) -> None:
        self.rig = rig
        self.port = rig.port
        self._folder = own_folder(url, os.environ)

    def kept(self) -> list[Path]:
        return list(self._folder.iterdir()) if self._folder.exists() else []

    def staged(self) -> list[Path]:
        folder = uploads_folder(os.environ)
        return list(folder.iterdir()) if folder.exists() else []

    async def wait_clean(self) -> None:
        """Nothing is left of what was not kept."""
        await self.rig.wait(lambda: not self.staged())
        await self.rig.wait_empty()


@asynccontextmanager
async def files(tmp_path: Path, **settings: Any) -> AsyncIterator[Place]:
    url = f"sqlite:{tmp_path / 'documents.db'}"
    async with gateway_over(behaviours.answer(), stores={"url": url}, **settings) as rig:
        place = Place(rig, url)
        yield place
        await place.wait_clean()


async def test_a_file_is_sent_on_a_connection_that_goes_on(tmp_path: Path) -> None:
    async with files(tmp_path) as place, connected(place.port) as client:
        for size in (0, 10, 70_000, 300_000):
            made = await client.ask(post(form(b"x" * size)))
            assert (made.status, made.json["bytes"]) == (200, size)
            assert (await client.ask(chat())).status == 200
            content = get(f"/v1/files/{made.json['id']}/content")
            assert (await client.ask(content)).body == b"x" * size
            await client.send(get(f"/v1/files/{made.json['id']}/content", method="HEAD"))
            status, headers = await client.head()
            assert (status, headers["content-length"]) == (200, str(size))
        listed = (await client.ask(get("/v1/files?limit=2&order=asc"))).json
        assert ([one["bytes"] for one in listed["data"]], listed["has_more"]) == ([0, 10], True)
        rest = (await client.ask(get(f"/v1/files?after={listed['last_id']}&order=asc"))).json
        assert [one["bytes"] for one in rest["data"]] == [70_000, 300_000]
        assert len(place.kept()) == 4


async def test_files_that_wait_for_each_other_are_all_kept(tmp_path: Path) -> None:
    async with files(tmp_path) as place, connected(place.port) as client:
        await client.send(b"".join(post(form(b"%d" % number)) for number in range(5)))
        made = [(await client.answer()).json["id"] for _ in range(5)]
        contents = [(await client.ask(get(f"/v1/files/{one}/content"))).body for one in made]
        assert contents == [b"%d" % number for number in range(5)]


async def test_a_body_in_chunks_is_a_file_as_well(tmp_path: Path) -> None:
    async with files(tmp_path) as place, connected(place.port) as client:
        body = form(b"abc" * 50_000)
        head = f"POST /v1/files HTTP/1.1\r\nhost: x\r\n{FORM}\r\ntransfer-encoding: chunked\r\n\r\n"
        chunks = [body[start : start + 999] for start in range(0, len(body), 999)]
        framed = b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in chunks) + b"0\r\n\r\n"
        made = await client.ask(head.replace("host: x", "host: localhost").encode() + framed)
        assert (made.status, made.json["bytes"]) == (200, 150_000)


@pytest.mark.parametrize(
    ("request_bytes", "status", "param", "words"),
    [
        (post(b"{}", declared="content-type: application/json"), 415, None, "multipart/form-data"),
        (post(form(), declared="x-nothing: 1"), 415, None, "multipart/form-data"),
        (post(form(), "content-encoding: gzip"), 415, None, "Compressed"),
        (post(form(), declared="content-type: multipart/form-data"), 400, None, "boundary"),
        (post(form(), declared=FORM.replace("=boundary", "=other")), 400, None, "not the form"),
        (post(b""), 400, None, "last boundary"),
        (post(form()[:-16]), 400, None, "last boundary"),
        (post(form(purpose="nonsense")), 400, "purpose", "is none of"),
        (post(form(b"", purpose="batch")), 400, "file", "empty"),
        (post(form().replace(b'"purpose"', b'"file"; filename="y"')), 400, "file", "two"),
        (post(form().replace(b'"file"', b'"data"')), 400, "data", "not a file"),
        (get("/v1/files?limit=0"), 400, "limit", "10000"),
        (get("/v1/files?limit=10001"), 400, "limit", "10000"),
        (get("/v1/files/file-none"), 404, None, "no file"),
        (get("/v1/files/file-none/content"), 404, None, "no file"),
        (get("/v1/files/..%2F..%2Fetc/content"), 404, None, "no file"),
        (get("/v1/files/file-none", method="DELETE"), 404, None, "no file"),
        (get("/v1/files/file-none/nothing"), 404, None, "no /v1"),
        (get("/v1/files", method="PUT"), 405, None, "GET, POST"),
        (post(form(), "origin: https://evil.example"), 403, None, "origins"),
        (post(form(), "origin: null"), 403, None, "origins"),
    ],
)
async def test_what_is_wrong_is_told_in_openais_shape(
    tmp_path: Path, request_bytes: bytes, status: int, param: str | None, words: str
) -> None:
    async with files(tmp_path) as place:
        answer = await ask(place.port, request_bytes)
        assert (answer.status, answer.error["param"]) == (status, param), answer.body
        assert words in answer.error["message"]
        assert place.kept() == []


async def test_a_page_of_the_gateway_itself_may_send(tmp_path: Path) -> None:
    async with files(tmp_path) as place:
        assert (await ask(place.port, post(form(), "origin: http://localhost"))).status == 200


async def test_a_file_that_is_too_large_is_refused_before_it_comes(tmp_path: Path) -> None:
    async with files(tmp_path, gateway={"file_bytes_max": 100_000}) as place:
        answer = await ask(place.port, post(b"", length=100_000 + 65537))
        assert (answer.status, answer.error["code"]) == (413, "body_too_large")
        answer = await ask(place.port, post(form(b"x" * 100_001)))
        assert (answer.status, "limit is 100000" in answer.error["message"]) == (413, True)
        assert (await ask(place.port, post(form(b"x" * 100_000)))).status == 200


async def test_a_mistake_is_answered_when_all_is_sent_and_cut_where_that_never_ends(tmp_path: Path) -> None:
    async with files(tmp_path) as place:
        async with connected(place.port) as client:
            answer = await client.ask(post(form(b"x" * 5_000_000, purpose="nonsense")))
            assert answer.status == 400
            assert (await client.ask(chat())).status == 200, "the connection is good"
        async with connected(place.port) as client:
            await client.send(post(form(purpose="nonsense"), length=400_000_000), b"x" * (18 << 20))
            answer = await client.answer()
            assert (answer.status, answer.headers["connection"]) == (400, "close")


async def test_a_client_that_leaves_leaves_nothing_behind(tmp_path: Path) -> None:
    async with files(tmp_path) as place:
        for size in (0, 100, 200_000):
            async with connected(place.port) as client:
                await client.send(post(form(b"x" * size)[:-4], length=10_000_000))
                if size:
                    await place.rig.wait(lambda: bool(place.staged()))
            await place.wait_clean()
        assert place.kept() == []


async def test_a_client_that_sends_too_slowly_is_refused(tmp_path: Path) -> None:
    async with files(tmp_path, gateway={"body_timeout_s": 0.3}) as place, connected(place.port) as client:
        await client.send(post(form(), length=10_000_000))
        answer = await client.answer()
        assert (answer.status, answer.error["code"]) == (408, "request_timeout")


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """As if the disk were full from there on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_is_told(tmp_path: Path) -> None:
    async with files(tmp_path) as place:
        with files_no_larger_than(2_000_000):
            answer = await ask(place.port, post(form(b"x" * 3_000_000)))
            assert (answer.status, answer.error["code"]) == (503, "store_unavailable")
            assert "cannot be written" in answer.error["message"]
            assert (await ask(place.port, post(form(b"x" * 1_000_000)))).status == 200


async def test_a_database_that_is_away_leaves_no_content(tmp_path: Path) -> None:
    (tmp_path / "documents.db").mkdir()
    async with files(tmp_path) as place:
        answer = await ask(place.port, post(form()))
        assert (answer.status, answer.error["code"]) == (503, "store_unavailable")
        assert place.kept() == []


async def test_another_projects_file_is_not_there(tmp_path: Path) -> None:
    async with files(tmp_path, tenants=BOTH) as place:
        made = (await ask(place.port, post(form(), bearer(ADA)))).json["id"]
        for path, method in ((made, "GET"), (f"{made}/content", "GET"), (made, "DELETE")):
            theirs = await ask(place.port, get(f"/v1/files/{path}", bearer(BOB), method=method))
            never = await ask(
                place.port, get(f"/v1/files/{path}", bearer(BOB), method=method).replace(b"file-", b"none")
            )
            assert theirs.status == never.status == 404
            assert theirs.error["code"] == never.error["code"]
        assert (await ask(place.port, get("/v1/files", bearer(BOB)))).json["data"] == []
        stranger = await ask(place.port, post(b"", length=400_000_000))
        assert stranger.status == 401, "before the body"
        assert (await ask(place.port, get(f"/v1/files/{made}/content", bearer(ADA)))).body == b"{}\n"


async def test_a_slow_reader_has_the_rest_read_later(tmp_path: Path) -> None:
    data = os.urandom(20_000_000)
    async with files(tmp_path) as place, connected(place.port) as client:
        made = (await client.ask(post(form(data)))).json["id"]
        async with connected(place.port) as slow:
            slow.stop_reading()
            await slow.send(get(f"/v1/files/{made}/content"))
            await asyncio.sleep(0.5)
            assert place.rig.holds().unsent_bytes < 2_000_000
            assert (await client.ask(chat())).status == 200, "others are served meanwhile"
            slow.go_on_reading()
            assert (await slow.answer()).body == data
            await slow.send(get(f"/v1/files/{made}/content"))
        async with connected(place.port) as leaving:
            leaving.stop_reading()
            await leaving.send(get(f"/v1/files/{made}/content"))
            await asyncio.sleep(0.1)
        await place.rig.wait(lambda: not len(place.rig.gateway.server._request_handler.stored))


async def read_some(client: RawClient, id: str) -> None:
    await client.send(get(f"/v1/files/{id}/content"))
    await client.head()
    client.stop_reading()
    await asyncio.sleep(0.3)


async def test_a_file_that_goes_while_it_is_read_does_not_look_whole(tmp_path: Path) -> None:
    async with files(tmp_path) as place, connected(place.port) as client:
        made = (await client.ask(post(form(b"x" * 30_000_000)))).json["id"]
        async with connected(place.port) as reader:
            await read_some(reader, made)
            deleted: Answer = await client.ask(get(f"/v1/files/{made}", method="DELETE"))
            assert deleted.json == {"id": made, "object": "file", "deleted": True}
            reader.go_on_reading()
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await reader.reader.readexactly(30_000_000)
        assert place.kept() == []
