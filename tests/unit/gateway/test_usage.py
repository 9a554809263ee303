"""What engines say about tokens."""

import pytest

from heterodyne.gateway import usage


def test_the_usage_of_an_answer_is_read_with_its_cached_part() -> None:
    body = (
        b'{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3}}}'
    )
    used, is_error = usage.of_answer(body)
    assert used is not None
    assert (used.prompt_tokens, used.completion_tokens, used.cached_tokens, is_error) == (9, 4, 3, False)
    assert used.cache_write_tokens == 0


def test_so_is_what_was_written_to_a_cache() -> None:
    used, _ = usage.of_answer(b'{"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cache_write_tokens":5}}}')
    assert used is not None
    assert (used.cached_tokens, used.cache_write_tokens) == (None, 5)


@pytest.mark.parametrize("body", [b"{}", b'{"usage":null}', b'{"data":[1,2]}'])
def test_an_answer_without_usage_has_none(body: bytes) -> None:
    assert usage.of_answer(body) == (None, False)


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b'{"usage":'])
def test_what_is_no_object_is_no_answer(body: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        usage.of_answer(body)


@pytest.mark.parametrize(
    ("data", "is_usage_only", "is_error"),
    [
        (b'{"choices":[{"delta":{"content":"x"}}]}', False, False),
        (b'{"choices":[{"delta":{}}],"usage":null}', False, False),
        (b'{"choices":[{"delta":{}}],"usage":{"prompt_tokens":1}}', False, False),
        (b'{"choices":[],"usage":{"prompt_tokens":1}}', True, False),
        (b'{"usage":{"prompt_tokens":1}}', True, False),
        (b'{"error":{"message":"out of memory","code":500}}', False, True),
        (b'{"error":"out of memory"}', False, True),
        (b'{"choices":[],"error":null}', False, False),
    ],
)
def test_an_event_is_told_by_what_is_in_it(data: bytes, is_usage_only: bool, is_error: bool) -> None:
    news = usage.of_event(data)
    assert (news.is_usage_only, news.is_error) == (is_usage_only, is_error)
