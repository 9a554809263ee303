"""Answers read piece by piece, without a socket."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.bench.events import StreamedUsage
from heterodyne.bench.failure import BenchFailure, ExchangeFailed
from heterodyne.bench.response_reader import StreamResponseReader, WholeResponseReader

STREAM = (
    b'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
    b": a comment\n\n"
    b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    b'data: {"choices":[{"delta":{"reasoning_content":"b"}}]}\r\n\r\n'
    b'data: {"choices":[{"text":"c"}]}\n\n'
    b'event: message\ndata: {"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}\n\n'
    b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":4}}\n\n'
    b"data: [DONE]\n\n"
)


def streamed(*pieces: bytes, status: int = 200, is_whole: bool = True) -> StreamResponseReader:
    answer = StreamResponseReader()
    answer.head(status, b"text/event-stream; charset=utf-8")
    for number, piece in enumerate(pieces):
        answer.data(piece, float(number))
    answer.end(is_whole)
    return answer


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_a_stream_reads_the_same_wherever_it_is_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    answer = streamed(*(STREAM[start:end] for start, end in pairwise(edges)))
    assert len(answer.content_at_s) == 4
    assert answer.usage == StreamedUsage(prompt_tokens=7, completion_tokens=4)


def test_content_events_carry_the_time_they_were_read() -> None:
    events = STREAM.split(b"\n\n")
    answer = streamed(*(event + b"\n\n" for event in events[:3]), b"data: [DONE]\n\n")
    assert answer.content_at_s == [2.0]


@pytest.mark.parametrize(
    ("pieces", "is_whole", "failure"),
    [
        ([STREAM[:300]], False, BenchFailure.BROKEN_STREAM),
        ([STREAM.replace(b"data: [DONE]\n\n", b"")], True, BenchFailure.BROKEN_STREAM),
        ([b'data: {"error":{"message":"lost"}}\n\n'], True, BenchFailure.ERROR_EVENT),
        ([b"data: {oops\n\n"], True, BenchFailure.GARBAGE),
    ],
)
def test_a_stream_that_goes_wrong_says_how(pieces: list[bytes], is_whole: bool, failure: BenchFailure) -> None:
    with pytest.raises(ExchangeFailed) as caught:
        streamed(*pieces, is_whole=is_whole)
    assert caught.value.failure is failure


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (302, BenchFailure.HTTP_3XX),
        (404, BenchFailure.HTTP_4XX),
        (429, BenchFailure.HTTP_429),
        (500, BenchFailure.HTTP_5XX),
        (503, BenchFailure.HTTP_5XX),
    ],
)
@pytest.mark.parametrize("kind", [StreamResponseReader, WholeResponseReader])
def test_a_refusal_keeps_the_servers_own_sentence(
    kind: type[StreamResponseReader] | type[WholeResponseReader], status: int, failure: BenchFailure
) -> None:
    answer = kind()
    answer.head(status, b"application/json")
    answer.data(b'{"error":{"message":"too ', 0.0)
    answer.data(b'busy"}}', 0.0)
    with pytest.raises(ExchangeFailed, match=f"HTTP {status}: too busy") as caught:
        answer.end(True)
    assert caught.value.failure is failure


def test_json_instead_of_a_stream_is_garbage() -> None:
    with pytest.raises(ExchangeFailed) as caught:
        StreamResponseReader().head(200, b"application/json")
    assert caught.value.failure is BenchFailure.GARBAGE


def test_a_whole_answer_gives_its_usage() -> None:
    answer = WholeResponseReader()
    answer.head(200, b"application/json")
    answer.data(b'{"choices":[{"message":{}}],"usage":{"prompt_tokens":3,"total_tokens":3}}', 0.0)
    answer.end(True)
    assert answer.usage == StreamedUsage(prompt_tokens=3)


def test_a_whole_answer_cut_short_is_broken() -> None:
    answer = WholeResponseReader()
    answer.head(200, b"application/json")
    with pytest.raises(ExchangeFailed) as caught:
        answer.end(False)
    assert caught.value.failure is BenchFailure.BROKEN_ANSWER
