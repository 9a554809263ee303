"""What one kind of chaos is, and what was seen of it."""

from collections.abc import Callable

from msgspec import Struct


class Seen(Struct, frozen=True, kw_only=True):
    """What a client, an operator and the log saw."""

    requests: str  # while it lasted
    changes: str
    said: str  # by the log, the metrics or an error
    after: str  # when it was over, by itself


class Case(Struct, frozen=True, kw_only=True):
    """One thing that goes wrong; `run` raises where the gateway does not stand it."""

    name: str
    what: str  # exactly, in one sentence
    run: Callable[..., Seen]

    def __str__(self) -> str:
        return self.name.replace(" ", "-")
