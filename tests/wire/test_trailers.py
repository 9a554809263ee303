"""What comes after the last chunk of a body: counted as a head is, and never believed."""

import pytest

from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat_body, get

BODY = chat_body()
CHUNKS = b"%x\r\n%b\r\n0\r\n" % (len(BODY), BODY)


def head(host: str = "localhost", content_type: str = "application/json") -> bytes:
    lines = (f"host: {host}", f"content-type: {content_type}", "transfer-encoding: chunked")
    return "\r\n".join(("POST /v1/chat/completions HTTP/1.1", *lines, "", "")).encode()


async def test_trailers_are_counted_and_ignored() -> None:
    trailers = b"host: evil\r\ncontent-type: text/plain\r\nx-heterodyne-pool: nowhere\r\n\r\n"
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        assert (await client.ask(head() + CHUNKS + trailers)).status == 200
        assert (await client.ask(get("/health/live"))).status == 200, "the connection is still good"
        assert [call.body for call in rig.engine.calls] == [BODY]


async def test_a_trailer_does_not_stand_in_for_a_header() -> None:
    async with gateway_over(behaviours.answer()) as rig:
        for sent, trailer, status in (
            (head(host="evil"), b"host: localhost\r\n\r\n", 421),
            (head(content_type="text/plain"), b"content-type: application/json\r\n\r\n", 415),
        ):
            async with connected(rig.port) as client:
                assert (await client.ask(sent + CHUNKS + trailer)).status == status
        assert rig.engine.calls == []


@pytest.mark.parametrize(
    "trailers",
    [
        [b"x-large: " + b"x" * 40_000 + b"\r\n\r\n"],
        [b"x-endless: ", *[b"x" * 4000] * 2000],
        [b"".join(b"x-%d: y\r\n" % i for i in range(101)) + b"\r\n"],
        [b"x: y\r\n" * 60_000],
        [b"x: y\r\n" * 101 + b"\r\n"],
        [b"h: y\r\n", *[b"x" * 1000 + b": y\r\n"] * 40],
    ],
    ids=["one", "endless", "many", "a flood of equal ones", "equal ones", "long names"],
)
async def test_more_trailers_than_a_head_may_have_headers_are_refused(trailers: list[bytes]) -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        await client.send(head() + CHUNKS, *trailers)
        answer = await client.answer()
        assert (answer.status, answer.error["code"]) == (431, "head_too_large")
        assert await client.is_closed()
        await rig.wait_empty()
        assert rig.engine.calls == []


async def test_endless_extensions_of_chunks_are_refused() -> None:
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        await client.send(head() + b"1;x=", *[b"y" * 4000] * 2000)
        assert (await client.answer()).status == 431
        await rig.wait_empty()
