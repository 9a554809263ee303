"""Reading along while an answer passes."""

import msgspec

from heterodyne.endpoint_picker.answer_watch import EVENT_BYTES_MAX, WHOLE_BYTES_MAX, AnswerWatch
from heterodyne.testing.behaviours import chat_answer, chat_event, usage

STREAM = {b"content-type": b"text/event-stream; charset=utf-8"}
JSON = {b"content-type": b"application/json"}


def event(data: object) -> bytes:
    return b"data: " + (data if isinstance(data, bytes) else msgspec.json.encode(data)) + b"\n\n"


def test_a_stream_is_timed_and_counted_however_it_is_cut() -> None:
    role = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
    counted = {"choices": [], "usage": usage(7, 3)}
    events = [event(one) for one in (role, *[chat_event("a")] * 3, counted, b"[DONE]")]
    whole = b"".join(events)
    for size in (1, 7, 64, len(whole)):
        watch = AnswerWatch(STREAM)
        for start in range(0, len(whole), size):
            watch.feed(whole[start : start + size], float(start))
        watch.end()
        assert watch.usage is not None
        assert (watch.usage.prompt_tokens, watch.usage.completion_tokens) == (7, 3)
        assert (watch.events, watch.events_early, watch.is_done, watch.is_error) == (4, 1, True, False)
        if size == 1:
            assert watch.first_at_s == len(events[0]) + len(events[1]) - 1
    assert watch.bytes == len(whole)


def test_a_whole_answer_is_counted_when_it_has_come() -> None:
    body = msgspec.json.encode(chat_answer("x", prompt_tokens=5, completion_tokens=2))
    watch = AnswerWatch(JSON)
    watch.feed(body[:10], 1.0)
    watch.feed(body[10:], 2.0)
    watch.end()
    assert watch.usage is not None
    assert (watch.usage.completion_tokens, watch.first_at_s, watch.itl_s) == (2, 1.0, None)


def test_an_error_in_the_answer_is_heard() -> None:
    stream, whole = AnswerWatch(STREAM), AnswerWatch(JSON)
    stream.feed(event({"error": {"message": "no"}}), 1.0)
    whole.feed(b'{"error":{"message":"no"}}', 1.0)
    whole.end()
    assert stream.is_error
    assert whole.is_error


def test_what_cannot_be_read_passes_without_a_count() -> None:
    packed = AnswerWatch({**JSON, b"content-encoding": b"gzip"})
    packed.feed(b"\x1f\x8b", 1.0)
    page = AnswerWatch({b"content-type": b"text/html"})
    page.feed(b"<p>", 1.0)
    for watch in (packed, page):
        watch.end()
        assert watch.usage is None
        assert not watch.is_error


def test_what_is_held_of_an_answer_is_bounded() -> None:
    whole, stream = AnswerWatch(JSON), AnswerWatch(STREAM)
    whole.feed(b"x" * (WHOLE_BYTES_MAX + 1), 1.0)
    stream.feed(b"data: " + b"x" * (EVENT_BYTES_MAX + 1), 1.0)
    for watch in (whole, stream):
        assert not watch._held
        watch.feed(b"y" * 100, 2.0)
        assert not watch._held
