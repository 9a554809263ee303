"""A chat from the console with a model, or with one pool of it."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Text = Annotated[str, Meta(max_length=200_000)]


class PlaygroundMessage(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One turn."""

    role: Literal["system", "user", "assistant"]
    content: Text


class PlaygroundRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /admin/playground`: the answer is the gateway's own stream of events behind one event `placed`."""

    model: str
    messages: Annotated[tuple[PlaygroundMessage, ...], Meta(min_length=1, max_length=200)]
    pool: str | None = None  # None: wherever the policy says
    max_tokens: Annotated[int, Meta(ge=1, le=32768)] = 512
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None

    def __str__(self) -> str:
        """For the log, which never has prompts."""
        return f"{self.model}{'' if self.pool is None else f' on pool {self.pool}'}"

    __repr__ = __str__


class PlacedEvent(Struct, frozen=True, kw_only=True):
    """The first event: where the request went."""

    request_id: str
    pool: str
    replica: str
    decision: str  # why there, in words; empty: it was not placed
    steps: tuple[str, ...] = ()  # what came before, in words: a cascade, a cache
    status: int
