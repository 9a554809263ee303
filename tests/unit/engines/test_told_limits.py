"""What providers say of their rate limits, each in its own words."""

import pytest

from heterodyne.domain.provider_limit import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    REQUESTS,
    TOKENS,
    ProviderLimit,
    ToldLimits,
)
from heterodyne.engines.anthropic.dialect import AnthropicDialect
from heterodyne.engines.azure_openai import AzureOpenAIDialect
from heterodyne.engines.gemini.dialect import GeminiDialect
from heterodyne.engines.openai import OpenAIDialect
from heterodyne.engines.vllm import VllmDialect

DATE = {b"date": b"Wed, 18 Nov 2026 01:00:00 GMT"}


def test_openai_says_how_much_and_for_how_long() -> None:
    headers = {
        b"x-ratelimit-limit-requests": b"60",
        b"x-ratelimit-remaining-requests": b"59",
        b"x-ratelimit-reset-requests": b"1s",
        b"x-ratelimit-limit-tokens": b"150000",
        b"x-ratelimit-remaining-tokens": b"149984",
        b"x-ratelimit-reset-tokens": b"6m0.5s",
    }
    assert OpenAIDialect().limits(200, headers) == ToldLimits(
        (ProviderLimit(REQUESTS, 59, 60, 1.0), ProviderLimit(TOKENS, 149984, 150000, 360.5))
    )


def test_azure_says_no_more_than_what_is_left_and_minus_one_of_what_it_does_not_limit() -> None:
    headers = {b"x-ratelimit-remaining-requests": b"0", b"x-ratelimit-remaining-tokens": b"-1"}
    assert AzureOpenAIDialect().limits(200, headers) == ToldLimits((ProviderLimit(REQUESTS, 0),))
    headers = {b"x-ratelimit-remaining-tokens": b"12", b"x-ratelimit-reset-tokens": b"7", b"retry-after": b"6"}
    assert AzureOpenAIDialect().limits(429, headers) == ToldLimits((ProviderLimit(TOKENS, 12, None, 7.0),), 6.0)


def test_anthropic_says_when_by_the_time_of_day() -> None:
    headers = {
        **DATE,
        b"anthropic-ratelimit-requests-limit": b"50",
        b"anthropic-ratelimit-requests-remaining": b"49",
        b"anthropic-ratelimit-requests-reset": b"2026-11-18T01:00:02Z",
        b"anthropic-ratelimit-input-tokens-limit": b"30000",
        b"anthropic-ratelimit-input-tokens-remaining": b"0",
        b"anthropic-ratelimit-input-tokens-reset": b"2026-11-18T02:01:00+01:00",
        b"anthropic-ratelimit-output-tokens-remaining": b"8000",
        b"anthropic-ratelimit-output-tokens-reset": b"2026-11-18T00:59:00Z",
        b"retry-after": b"60",
    }
    assert AnthropicDialect().limits(429, headers) == ToldLimits(
        (
            ProviderLimit(REQUESTS, 49, 50, 2.0),
            ProviderLimit(INPUT_TOKENS, 0, 30000, 60.0),
            ProviderLimit(OUTPUT_TOKENS, 8000, None, 0.0),
        ),
        60.0,
    )


def test_a_time_of_day_says_nothing_without_the_answers_own() -> None:
    headers = {
        b"anthropic-ratelimit-tokens-remaining": b"0",
        b"anthropic-ratelimit-tokens-reset": b"2026-11-18T01:00:02Z",
    }
    assert AnthropicDialect().limits(200, headers) == ToldLimits((ProviderLimit(TOKENS, 0),))


@pytest.mark.parametrize(
    ("headers", "retry_after_s"),
    [
        ({b"retry-after": b"7"}, 7.0),
        ({b"retry-after": b"0.5"}, 0.5),
        ({b"retry-after-ms": b"1500", b"retry-after": b"2"}, 1.5),
        ({b"retry-after": b"Wed, 18 Nov 2026 01:00:30 GMT", **DATE}, 30.0),
        ({b"retry-after": b"Wed, 18 Nov 2026 00:00:00 GMT", **DATE}, 0.0),
    ],
)
@pytest.mark.parametrize("dialect", [OpenAIDialect(), AnthropicDialect(), GeminiDialect()])
def test_a_refusal_says_when_to_come_back(
    dialect: OpenAIDialect, headers: dict[bytes, bytes], retry_after_s: float
) -> None:
    assert dialect.limits(429, headers) == ToldLimits((), retry_after_s)


@pytest.mark.parametrize(
    "value", [b"", b"soon", b"-1", b"1e9", b"9" * 40, b"\xff", b"1s2", b"inf", b"nan", b"Wed, 99 Nov 2026 01:00:30 GMT"]
)
def test_what_cannot_be_read_is_left_out(value: bytes) -> None:
    openai = {
        b"x-ratelimit-remaining-requests": value,
        b"retry-after": value,
        b"retry-after-ms": value,
        **DATE,
    }
    assert OpenAIDialect().limits(429, openai) is None
    unread = {
        b"x-ratelimit-remaining-tokens": b"0",
        b"x-ratelimit-limit-tokens": value,
        b"x-ratelimit-reset-tokens": value,
    }
    assert OpenAIDialect().limits(200, unread) == ToldLimits((ProviderLimit(TOKENS, 0),))
    anthropic = {
        b"anthropic-ratelimit-requests-remaining": b"0",
        b"anthropic-ratelimit-requests-reset": value,
        b"date": value,
    }
    assert AnthropicDialect().limits(200, anthropic) == ToldLimits((ProviderLimit(REQUESTS, 0),))


def test_an_answer_without_any_says_nothing_and_an_engine_of_ours_is_not_asked() -> None:
    assert OpenAIDialect().limits(200, {b"content-type": b"application/json"}) is None
    assert AnthropicDialect().limits(200, DATE) is None
    assert OpenAIDialect.tells_limits
    assert not VllmDialect.tells_limits
