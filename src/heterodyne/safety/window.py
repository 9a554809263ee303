"""Looks for findings in a text that comes in chunks, before any character of a finding is sent on."""

from collections.abc import Callable
from typing import Final

from msgspec import structs

from heterodyne.safety.finding import Finding, Released, Settled, place
from heterodyne.safety.piece_looks import PieceLooks, TextLook
from heterodyne.safety.settled import PLAIN, PLAIN_BEHIND, TELLING_ALONE, places
from heterodyne.safety.settled import settle as plain_settle

Settle = Callable[[str], Settled]

WINDOW_CHARACTERS: Final = 128
CONTEXT_CHARACTERS: Final = 96
STEP_CHARACTERS: Final = 32
KEPT_TIMES: Final = 8  # as much of what was sent as context is
PIECE_CHARACTERS: Final = 256  # of a long run, that are looked at in one go
FINDINGS_MAX: Final = 256  # that are reported at once; the text behind them goes with the next chunk
HELD_TIMES: Final = 4  # as much as a window, of findings that overlap each other
SPACES: Final = " \n\t\r"
SPACES_MAX: Final = 64  # that wait for a word behind them; a model that has lost its way writes them without end
# What keys, tokens and addresses are made of. Words of a text are too, and end soon.
RUN: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+/=:@%~#&?"

NOTHING_YET: Final = Released("")


class StreamWindow:
    """Holds back the end of a stream until nothing in it can be part of a finding. One for a stream.

    A finding of at most `window` characters is released whole, with its report. A longer one is reported when the
    window is full of it, and what comes after is looked at anew; one that is an unbroken run of characters, as tokens
    are, is waited for up to `run_max`, and looked at piece by piece meanwhile. Text that was sent is kept for a while
    as context.
    """

    def __init__(
        self,
        look: TextLook,
        *,
        window: int = WINDOW_CHARACTERS,
        context: int = CONTEXT_CHARACTERS,
        step: int = STEP_CHARACTERS,
        run_max: int = 0,
        settle: Settle | None = None,  # what of a text that goes on can be judged; None: all but the window
        in_pieces: PieceLooks | None = None,  # None: a run is looked at when it ends
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
        self._in_pieces = in_pieces
        self._knows_plain = settle is plain_settle  # of other rules plain words may be the business
        self._is_plain = self._knows_plain  # what is held
        self._until = 0  # while the last word that is held begins before it, nothing can be judged
        self._sent = sent[-context:] if context else ""  # the last characters that were released
        self._held = ""
        self._fresh = 0  # characters of the held text that came since the last look
        self._run_start = -1  # in the held text, of a run that fills the window already; -1: there is none
        self._looked = 0  # characters of the held text before which findings near at hand are known ...
        self._known: list[Finding] = []  # ... which are these
        self._over: list[Finding] = []  # that began in what was sent
        self._last: list[Finding] | None = None  # all in what is held, when no more comes

    def feed(self, chunk: str) -> Released:
        """What may be sent after one more chunk."""
        ready = self.feed_plain(chunk)
        return self.feed_any(chunk) if ready is None else Released(ready)

    def feed_plain(self, chunk: str) -> str | None:
        """The same where there is nothing to look for yet, as nearly always; None: it has to go to `feed_any`."""
        if self._run_start >= 0 or self._over:
            return None
        held = self._held + chunk
        if len(held) >= self._window:
            return None
        if self._until and _open_from(held) < self._until:
            self._held = held
            # What is telling in this chunk moves the end as well, so that there is no need to settle it for that.
            untold = chunk.rstrip(PLAIN)
            if untold and untold[-1] in TELLING_ALONE:
                self._until = max(self._until, len(held) - len(chunk) + len(untold) + PLAIN_BEHIND)
            return ""
        if not self._is_plain or chunk.lstrip(PLAIN):
            return None
        last = max(held.rfind(" "), held.rfind("\n"))
        ready = held[:last].rstrip(SPACES) if last > 0 else ""  # the space goes with the word behind it
        self._held = held[len(ready) :]
        self._add_sent(ready)
        return ready

    def feed_any(self, chunk: str) -> Released:
        """The same of words that nothing is known of."""
        held = self._held + chunk
        self._until = 0
        if self._run_start >= 0 and not chunk.strip(RUN) and len(held) - self._run_start <= self._run_max:
            self._held = held  # nothing of it can be released
            self._look_ahead()
            return NOTHING_YET
        self._run_start = -1
        if self._settle is not None:
            plain, judged, until = places(held) if self._knows_plain else (*self._settle(held), 0)
            if plain == judged and len(held) - plain < self._window and not self._over:
                plain = _word_end(held, plain)
                self._until = max(0, until - plain)
                return self._released(held, plain) if plain else self._hold(held)
        else:
            judged, self._fresh = 0, self._fresh + len(chunk)
        self._held, self._is_plain = held, False
        settled = self._settled(judged)
        return self._release(settled) if settled else NOTHING_YET

    def close(self) -> Released:
        """The rest when the stream has ended, or so much of it as has FINDINGS_MAX findings; the next call has more."""
        return self._release(len(self._held), is_last=True) if self._held else NOTHING_YET

    @property
    def is_empty(self) -> bool:
        """Whether nothing is held."""
        return not self._held

    def _look_ahead(self) -> None:
        """TextLook at the pieces of a run behind which there is as much of it as a finding may have."""
        if self._in_pieces is None:
            return
        while len(self._held) - self._looked >= PIECE_CHARACTERS + self._window:
            end = self._looked + PIECE_CHARACTERS
            found = self._seen(self._in_pieces.near, self._looked, end + self._window)
            if any(one.end >= end + self._window for one in found):  # an address, whose host may be a long name
                found = self._seen(self._in_pieces.near, self._looked, end + 2 * self._window)
            self._known += [one for one in found if self._looked <= one.start < end]
            self._looked = end

    def _seen(self, look: TextLook, start: int, end: int) -> list[Finding]:
        """What a look finds in a part of the held text, with what stands before that."""
        reach = self._context - start
        sent = self._sent[-reach:] if reach > 0 else ""
        begin = max(0, -reach) - len(sent)
        found = look(sent + self._held[max(0, -reach) : end])
        return [_moved(one, begin) for one in found] if begin else list(found)

    def _findings(self) -> list[Finding]:
        """All in what is held, in their order."""
        looks = self._in_pieces
        if self._last is not None:
            return self._last
        if not self._looked or looks is None:
            found = self._seen(self._look, 0, len(self._held))
        else:
            near = self._seen(looks.near, self._looked, len(self._held))
            known = self._known + [one for one in near if one.start >= self._looked]
            found = looks.join(known + self._seen(looks.far, 0, len(self._held)))
            if not self._over and found and found[0].start >= 0:
                return found
        return sorted((one for one in (*found, *self._over) if one.end > 0), key=place)

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
                if len(held) - run_start >= self._window:
                    self._run_start = run_start
        return _word_end(held, max(settled, 0))

    def _release(self, most: int, *, is_last: bool = False) -> Released:
        """At most the first held characters, with what was found in them."""
        found = self._findings()
        settled, is_too_many = most, False
        if len(found) > FINDINGS_MAX and found[FINDINGS_MAX].start > 0:
            settled, is_too_many = min(most, found[FINDINGS_MAX].start), True
        settled = self._between(found, settled, most)
        if not settled:
            return NOTHING_YET
        # One that began in what was sent is the end of a finding that did not fit.
        inside = [
            structs.replace(one, start=max(one.start, 0), end=min(one.end, settled))
            for one in found
            if one.start < settled
        ]
        left = [_moved(one, -settled) for one in found if one.end > settled]
        released = self._released(self._held, settled, tuple(inside))
        self._over = [one for one in left if one.start < 0]
        if is_last:
            self._last = left
        elif is_too_many and self._in_pieces is not None:
            self._looked = max(0, len(self._held) - self._window)
            self._known = [one for one in left if 0 <= one.start < self._looked]
        return released

    def _between(self, found: list[Finding], settled: int, most: int) -> int:
        """A place up to `most` that no finding goes over: `settled`, if need be less, or more where one is too long to
        be waited for.

        Of findings that overlap each other without end some go over it.
        """
        end = settled
        for finding in found:
            if finding.start >= end:
                break
            if finding.end > end and (finding.end <= most or finding.end - max(finding.start, 0) >= self._window):
                end = finding.end
        for finding in reversed(found):
            if finding.start < end < finding.end:  # it may go on in the next chunk
                end = max(finding.start, 0)
        return settled if len(self._held) - end > HELD_TIMES * self._window and end < settled else end

    def _hold(self, held: str) -> Released:
        if self._run_start >= 0:
            self._run_start = max(-1, self._run_start - len(self._held) + len(held))
        self._held = held
        if self._looked:
            self._looked, self._known = 0, []
        self._is_plain = self._knows_plain and not held.lstrip(PLAIN)
        return NOTHING_YET

    def _released(self, held: str, settled: int, findings: tuple[Finding, ...] = ()) -> Released:
        text = held[:settled]
        self._hold(held[settled:])
        self._add_sent(text)
        return Released(text, findings)

    def _add_sent(self, text: str) -> None:
        self._sent += text
        if len(self._sent) > KEPT_TIMES * self._context:  # seldom, as cutting costs more than keeping
            self._sent = self._sent[-self._context :] if self._context else ""


def _moved(finding: Finding, by: int) -> Finding:
    return structs.replace(finding, start=finding.start + by, end=finding.end + by)


def _word_end(held: str, end: int) -> int:
    """The end without spaces, which go with the word behind them: another replica can go on after a word, and not
    after a space."""
    return max(len(held[:end].rstrip(SPACES)), end - SPACES_MAX)


def _open_from(held: str) -> int:
    """Where the last word begins, or later."""
    if not held.isascii():
        return len(held)  # there are scripts without spaces
    return max(held.rfind(" "), held.rfind("\n"), held.rfind("\t")) + 1
