"""Pure: a user's request, asked again to compare answers: once, whole, and always alike."""

from collections.abc import Mapping
from typing import Any, Final

from heterodyne.domain.operation import Operation

ASKED_AGAIN: Final = (Operation.CHAT, Operation.COMPLETION)
NOT_ASKED: Final = ("stream", "stream_options", "n", "best_of", "seed", "user", "max_completion_tokens")


def body_again(body: Mapping[str, Any], model: str, tokens_max: int) -> dict[str, Any]:
    """The same words, of as many tokens as were asked for, up to these."""
    asked = body.get("max_completion_tokens") or body.get("max_tokens")
    limit = min(asked, tokens_max) if isinstance(asked, int) else tokens_max
    kept = {name: value for name, value in body.items() if name not in NOT_ASKED}
    return kept | {"model": model, "temperature": 0, "max_tokens": limit}
