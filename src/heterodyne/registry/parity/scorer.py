"""One way to run a model, asked for log-probabilities."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from heterodyne.parity.scored_token import ScoredToken

TOP = 20  # likeliest tokens that are named at each position: as many as vLLM and OpenAI give


class Scorer(Protocol):
    """Blocking: callers run it outside the event loop."""

    name: str  # of what computes

    def scored(self, tokens: Sequence[int]) -> list[ScoredToken | None]:
        """Of every token but the first, given those before it; None where it says nothing."""
        ...


@runtime_checkable
class Writer(Scorer, Protocol):
    """One that also writes, fast enough to be asked."""

    def continued(self, tokens: Sequence[int], count: int) -> list[ScoredToken]:
        """The next tokens at temperature 0; fewer where the model ends."""
        ...
