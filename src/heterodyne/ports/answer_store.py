"""Where answers are kept for several workers and gateways."""

from typing import Protocol


class AnswerStore(Protocol):
    """Bytes by key, for a time. It may forget anything at any moment."""

    async def try_get(self, key: bytes) -> bytes | None:
        """None: it has none; raises StoreUnavailable where it does not answer in time."""
        ...

    async def put(self, key: bytes, value: bytes, ttl_s: float) -> None:
        """Raises StoreUnavailable as well."""
        ...

    async def close(self) -> None: ...
