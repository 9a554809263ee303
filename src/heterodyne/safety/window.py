"""Looks for findings in a text that comes in chunks, before any character of a finding is sent on."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, structs

from heterodyne.safety.finding import Finding

Look = Callable[[str], list[Finding]]

WINDOW_CHARACTERS: Final = 128
CONTEXT_CHARACTERS: Final = 96
STEP_CHARACTERS: Final = 32


class Released(Struct, frozen=True):
    """Text that may be sent, and what was found in it; places are counted from the start of this text."""

    text: str
    findings: tuple[Finding, ...] = ()


NOTHING_YET: Final = Released("")


class StreamWindow:
    """Holds back the end of a stream until nothing in it can be part of a finding. One for a stream.

    A finding of at most `window` characters is released whole, with its report. A longer one is reported when the
    window is full of it, and what comes after is looked at anew. Text that was sent is kept for a while as context.
    """

    def __init__(
        self,
        look: Look,
        *,
        window: int = WINDOW_CHARACTERS,
        context: int = CONTEXT_CHARACTERS,
        step: int = STEP_CHARACTERS,
        open_from: Callable[[str], int] | None = None,  # where a finding may have begun in a text that goes on
    ) -> None:
        assert window > 0
        assert context >= 0
        assert step > 0
        self._look = look
        self._window = window
        self._context = context
        self._step = step
        self._open_from = open_from
        self._sent = ""  # the last characters that were released
        self._held = ""
        self._fresh = 0  # characters of the held text that came since the last look

    def feed(self, chunk: str) -> Released:
        """What may be sent after one more chunk."""
        self._held += chunk
        self._fresh += len(chunk)
        settled = self._settled()
        if not settled:
            return NOTHING_YET
        self._fresh = 0
        return self._release(settled)

    def close(self) -> Released:
        """The rest, when the stream has ended."""
        return self._release(len(self._held)) if self._held else NOTHING_YET

    def _settled(self) -> int:
        """How many of the held characters no unfinished finding can hold. 0 when a look is not worth its while."""
        settled = len(self._held) - self._window
        if self._open_from is not None:
            settled = max(settled, min(self._open_from(self._held), len(self._held)))
            return settled if settled > 0 else 0
        return settled if settled > 0 and self._fresh >= self._step else 0

    def _release(self, settled: int) -> Released:
        """At most the first `settled` held characters, with what was found in them."""
        before = len(self._sent)
        inside = []
        for finding in self._look(self._sent + self._held):
            start, end = finding.start - before, finding.end - before
            if end <= 0 or start >= settled:
                continue
            if start < 0:  # it began in what was sent, as the end of a finding that did not fit
                start = 0
            if end > settled:
                if end - start < self._window and settled < len(self._held):
                    settled = start  # it may go on in the next chunk
                    continue
                settled = end
            inside.append(structs.replace(finding, start=start, end=end))
        inside = [finding for finding in inside if finding.end <= settled]
        text, self._held = self._held[:settled], self._held[settled:]
        if self._context:
            self._sent = (self._sent + text)[-self._context :]
        return Released(text, tuple(inside)) if text else NOTHING_YET
