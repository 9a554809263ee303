"""Looks for findings in a text that comes in chunks, before any character of a finding is sent on."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, structs

from heterodyne.safety.finding import Finding
from heterodyne.safety.settled import Settled

Look = Callable[[str], list[Finding]]
Settle = Callable[[str], Settled]

WINDOW_CHARACTERS: Final = 128
CONTEXT_CHARACTERS: Final = 96
STEP_CHARACTERS: Final = 32
# What keys, tokens and addresses are made of. Words of a text are too, and end soon.
RUN: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+/=:@%~#&?"


class Released(Struct, frozen=True):
    """Text that may be sent, and what was found in it; places are counted from the start of this text."""

    text: str
    findings: tuple[Finding, ...] = ()


NOTHING_YET: Final = Released("")


class StreamWindow:
    """Holds back the end of a stream until nothing in it can be part of a finding. One for a stream.

    A finding of at most `window` characters is released whole, with its report. A longer one is reported when the
    window is full of it, and what comes after is looked at anew; one that is an unbroken run of characters, as tokens
    are, is waited for up to `run_max`. Text that was sent is kept for a while as context.
    """

    def __init__(
        self,
        look: Look,
        *,
        window: int = WINDOW_CHARACTERS,
        context: int = CONTEXT_CHARACTERS,
        step: int = STEP_CHARACTERS,
        run_max: int = 0,
        settle: Settle | None = None,  # what of a text that goes on can be judged; None: all but the window
        sent: str = "",  # what came before
    ) -> None:
        assert window > 0
        assert context >= 0
        assert step > 0
        self._look = look
        self._window = window
        self._context = context
        self._step = step
        self._run_max = run_max
        self._settle = settle
        self._sent = sent[-context:] if context else ""  # the last characters that were released
        self._held = ""
        self._fresh = 0  # characters of the held text that came since the last look

    def feed(self, chunk: str) -> Released:
        """What may be sent after one more chunk."""
        self._held += chunk
        self._fresh += len(chunk)
        settled, plain = self._settled()
        if not settled:
            return NOTHING_YET
        self._fresh = 0
        if settled > plain:
            return self._release(settled)
        text, self._held = self._held[:settled], self._held[settled:]
        self._remember(text)
        return Released(text)

    def close(self) -> Released:
        """The rest, when the stream has ended."""
        return self._release(len(self._held)) if self._held else NOTHING_YET

    def _settled(self) -> tuple[int, int]:
        """How many of the held characters no unfinished finding can hold, 0 when a look is not worth its while; and in
        how many of them there is nothing to find."""
        size, plain = len(self._held), 0
        settled = size - self._window
        if self._settle is not None:
            plain, judged = self._settle(self._held)
            settled = max(settled, judged, plain)
        elif self._fresh < self._step:
            return 0, 0
        if settled > 0 and self._run_max:
            run = size - len(self._held.rstrip(RUN))
            if run <= self._run_max:
                settled = min(settled, size - run)
        # A space goes with the word behind it: another replica can go on after a word, and not after a space.
        while settled > 0 and self._held[settled - 1].isspace():
            settled -= 1
        return max(settled, 0), plain

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
        self._remember(text)
        return Released(text, tuple(inside)) if text else NOTHING_YET

    def _remember(self, text: str) -> None:
        if self._context:
            self._sent = (self._sent + text)[-self._context :]
