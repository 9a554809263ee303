"""A budget of thoughts, in tokens, in the words that engines have for it."""

from typing import Final

LOW_TOKENS: Final = 4096
MEDIUM_TOKENS: Final = 16384


def effort_of(budget_tokens: int) -> str:
    """The nearest that can be told to engines."""
    if budget_tokens <= LOW_TOKENS:
        return "low"
    return "medium" if budget_tokens <= MEDIUM_TOKENS else "high"
