"""What the registry asks of a place weights come from."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

Progress = Callable[[str, int, int | None], None]  # what is fetched, bytes so far, bytes in all when known


class WeightSource(Protocol):
    """One URI scheme. Blocking: callers run it outside the event loop."""

    scheme: str

    def fetch(self, reference: str, into: Path, progress: Progress) -> Path:
        """Bring the file named by `reference` (the URI without its scheme) under `into`; return its path."""
        ...

    def check(self, reference: str) -> None:
        """Raise `WeightsUnavailable` where `fetch` would fail now; nothing is brought."""
        ...
