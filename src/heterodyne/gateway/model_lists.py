"""The models of this gateway as clients of other APIs expect a list of them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]


def anthropic_entry(name: str, started_at: int) -> Json:
    """One model."""
    created_at = datetime.fromtimestamp(started_at, UTC).isoformat().replace("+00:00", "Z")
    return {"type": "model", "id": name, "display_name": name, "created_at": created_at}


def anthropic_list(names: Iterable[str], started_at: int) -> Json:
    """All of them, on one page."""
    data = [anthropic_entry(name, started_at) for name in names]
    return {
        "data": data,
        "has_more": False,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
    }


def gemini_entry(name: str) -> Json:
    """One model."""
    return {"name": f"models/{name}", "displayName": name, "version": "1"}


def gemini_list(names: Iterable[str]) -> Json:
    """All of them, on one page."""
    return {"models": [gemini_entry(name) for name in names]}
