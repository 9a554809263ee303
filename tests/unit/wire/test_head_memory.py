"""Which heads are known by the last one, and which the parser is asked about."""

import pytest

from heterodyne.wire.head_memory import HeadMemory

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\nTraceparent: 00-ab\r\n\r\n"
HEADERS = {b"host": b"x", b"content-length": b"12", b"traceparent": b"00-ab"}


def memory() -> HeadMemory:
    kept = HeadMemory()
    kept.keep(HEAD, HEADERS)
    return kept


def test_the_same_head_has_the_same_headers() -> None:
    kept = memory()
    assert kept.recall(HEAD + b"a body") == len(HEAD)
    assert kept.headers is HEADERS


@pytest.mark.parametrize(
    ("old", "new", "name", "value"),
    [
        (b"Length: 12", b"Length: 4096", b"content-length", b"4096"),
        (b"00-ab", b"00-cd ef", b"traceparent", b"00-cd ef"),
        (b" 00-ab", b"", b"traceparent", b""),
    ],
)
def test_a_head_that_differs_in_a_plain_value_is_known(old: bytes, new: bytes, name: bytes, value: bytes) -> None:
    kept = memory()
    head = HEAD.replace(old, new)
    assert kept.recall(head + b"{}") == len(head)
    assert kept.headers == HEADERS | {name: value}
    assert HEADERS[b"content-length"] == b"12", "those of the last request are not touched"
    assert kept.recall(head) == len(head)


@pytest.mark.parametrize(
    "other",
    [
        HEAD.replace(b"POST", b"PUT"),
        HEAD.replace(b"Host: x", b"Host: y"),
        HEAD.replace(b"Length: 12", b"Length: 1x"),
        HEAD.replace(b"Length: 12", b"Length: +1"),
        HEAD.replace(b"Length: 12", b"Length: " + b"1" * 19),
        HEAD.replace(b"00-ab", b"00\tab"),
        HEAD.replace(b"00-ab", b"00\x00ab"),
        HEAD.replace(b"00-ab", b"00\nab"),
        HEAD.replace(b"00-ab", b"00-ab\r\n folded"),
        HEAD.replace(b"Traceparent", b"Tracestate"),
        HEAD.replace(b"Traceparent: 00-ab\r\n", b""),
        HEAD[:-2],
    ],
)
def test_any_other_head_is_for_the_parser(other: bytes) -> None:
    kept = memory()
    assert kept.recall(other) == 0
    assert kept.recall(HEAD) == len(HEAD), "what was kept is kept"


def test_a_folded_head_is_not_kept() -> None:
    kept = memory()
    kept.keep(b"GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", {b"host": b"x y"})
    assert kept.recall(HEAD) == 0


def test_what_is_forgotten_is_not_recalled() -> None:
    kept = memory()
    kept.forget()
    assert kept.recall(HEAD) == 0
    assert kept.headers == {}
