"""Anthropic's API with Bedrock's keys."""

from heterodyne.engines.anthropic.bedrock import BedrockDialect

DIALECT = BedrockDialect()


def test_the_key_is_a_bearer_s() -> None:
    assert DIALECT.header_lines("k") == b"authorization: Bearer k\r\nanthropic-version: 2023-06-01\r\n"


def test_whatever_it_answers_it_is_there() -> None:
    assert [DIALECT.is_ready(status, b"") for status in (200, 401, 403, 404, 500, 503)] == [True] * 4 + [False] * 2
