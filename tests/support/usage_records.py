"""Openings and endings for tests of the books."""

from msgspec.structs import asdict, replace

from heterodyne.domain.usage import UsageEnding, UsageOpening, UsageRecord


def opening(number: int = 1, **other: object) -> UsageOpening:
    return replace(
        UsageOpening(
            id=f"req_{number:04d}",
            at=1_793_534_400.0 + number,  # 2026-11-01 12:00 UTC
            organisation="acme",
            project="acme/search",
            key="k_1",
            tier="gold",
            urgency="interactive",
            operation="chat",
            model="llama",
            pool="h100",
        ),
        **other,
    )


def ending(tokens: int = 7, **other: object) -> UsageEnding:
    return replace(UsageEnding(status=200, prompt_tokens=100, completion_tokens=tokens, total_ms=12.5), **other)


def record(number: int = 1, tokens: int = 7, **other: object) -> UsageRecord:
    return replace(UsageRecord(**asdict(opening(number)), **asdict(ending(tokens))), **other)
