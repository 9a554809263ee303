"""What policies have found in one request, and what they do with its answer, as the way of requests knows it."""

from collections.abc import Sequence
from typing import Protocol

from heterodyne.domain.guard_verdict import GuardVerdict


class StreamGuard(Protocol):
    """Edits the events of one engine's stream, as OpenAI's clients get them."""

    @property
    def events(self) -> int:
        """Those with choices in them that have come."""
        ...

    @property
    def id(self) -> str:
        """Of the answer."""
        ...

    @property
    def created(self) -> int:
        """When the engine began the answer, in seconds since the epoch."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether a policy has cut the answer off, so that nothing that still comes is for the client."""
        ...

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        """The events that take the place of one; where it `owes` some, no other one may come before they were told."""
        ...

    @property
    def owes(self) -> bool:
        """Whether there is more in the place of the last event: to tell all of it at once would hold up others."""
        ...

    def more(self) -> tuple[bytes, ...]:
        """The next of it."""
        ...

    @property
    def asked(self) -> bytes:
        """A whole answer, in JSON, that is to be judged beside the loop before there is more; empty: none is."""
        ...

    def judged(self, verdicts: Sequence[GuardVerdict]) -> None:
        """What was found in that. Where nobody says, it is judged in the loop."""
        ...


class AnswerGuard(Protocol):
    """One for each request that a policy is about."""

    @property
    def verdicts(self) -> Sequence[GuardVerdict]:
        """What was found so far."""
        ...

    @property
    def looks_at_answers(self) -> bool:
        """Whether anything is done with the answer."""
        ...

    @property
    def edits_answers(self) -> bool:
        """Whether it is looked at here, event by event where it streams."""
        ...

    @property
    def holds_answers(self) -> bool:
        """Whether nothing of it is sent before guards elsewhere have judged all of it."""
        ...

    @property
    def flags_answers(self) -> bool:
        """Whether guards elsewhere are told of it when it is complete, while nobody waits for them."""
        ...

    @property
    def only_watches(self) -> bool:
        """Whether nothing in the answer is changed or blocked."""
        ...

    def check_text(self, text: str) -> str:
        """An answer that is no JSON as its client may have it; raises ContentBlocked."""
        ...

    def check_answer(self, body: bytes) -> bytes:
        """A whole answer in JSON as its client may have it; raises ContentBlocked."""
        ...

    def check_error(self, message: str) -> str:
        """What the client may be told of a failure."""
        ...

    def stream_guard(self, choices: int, sent: str) -> StreamGuard:
        """What edits a stream that goes on behind these words."""
        ...

    def hide(self, text: str) -> str:
        """Words that the client was sent, as an engine may see them."""
        ...
