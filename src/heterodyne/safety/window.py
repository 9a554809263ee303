"""Looks for findings in a text that comes in chunks, before any character of a finding is sent on."""

from collections.abc import Callable
from typing import Final

from msgspec import structs

from heterodyne.safety.finding import Finding, Released, Settled

Look = Callable[[str], list[Finding]]
Settle = Callable[[str], Settled]

WINDOW_CHARACTERS: Final = 128
CONTEXT_CHARACTERS: Final = 96
STEP_CHARACTERS: Final = 32
KEPT_TIMES: Final = 8  # as much of what was sent as context is
SPACES: Final = " \n\t\r"
# What keys, tokens and addresses are made of. Words of a text are too, and end soon.
RUN: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+/=:@%~#&?"


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
        held = self._held + chunk
        if self._settle is not None:
            plain, judged = self._settle(held)
            if plain == judged and len(held) - plain < self._window:  # there is nothing to look for, as nearly always
                while plain and held[plain - 1] in SPACES:
                    plain -= 1
                self._held = held[plain:]
                return self._released(held[:plain]) if plain else NOTHING_YET
        else:
            judged, self._fresh = 0, self._fresh + len(chunk)
        self._held = held
        settled = self._settled(judged)
        return self._release(settled) if settled else NOTHING_YET

    def close(self) -> Released:
        """The rest, when the stream has ended."""
        return self._release(len(self._held)) if self._held else NOTHING_YET

    def _settled(self, judged: int) -> int:
        """How many of the held characters no unfinished finding can hold; 0 when a look is not worth its while."""
        held = self._held
        settled = max(len(held) - self._window, judged)
        if self._settle is None:
            if self._fresh < self._step or settled <= 0:
                return 0
            self._fresh = 0
        if settled > 0 and self._run_max:
            run_start = len(held.rstrip(RUN))
            if len(held) - run_start <= self._run_max:
                settled = min(settled, run_start)
        # A space goes with the word behind it: another replica can go on after a word, and not after a space.
        while settled > 0 and held[settled - 1] in SPACES:
            settled -= 1
        return max(settled, 0)

    def _release(self, settled: int) -> Released:
        """At most the first `settled` held characters, with what was found in them."""
        sent = self._sent[-self._context :] if self._context else ""
        before = len(sent)
        inside = []
        for finding in self._look(sent + self._held):
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
        return self._released(text, tuple(inside)) if text else NOTHING_YET

    def _released(self, text: str, findings: tuple[Finding, ...] = ()) -> Released:
        self._sent += text
        if len(self._sent) > KEPT_TIMES * self._context:  # seldom, as cutting costs more than keeping
            self._sent = self._sent[-self._context :] if self._context else ""
        return Released(text, findings)
