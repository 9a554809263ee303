"""Pure: how much of the promised time between tokens steps may take where batch work is, learned from promises missed.

A forecast knows what steps take on the average; how often short answers meet a burst of prompts is a matter of the
traffic, and only seen. A promise missed beside batch work takes a tenth of the share, and one that is kept gives back
so little that the share rests where two of a thousand are missed. What began before the last cut shows what was before
it, and cuts no further.
"""

from math import inf
from typing import Final, final

MISSED_MAX: Final = 0.002  # of the promises made where batch work is: what it may cost
DECREASE: Final = 0.1  # of the share, for one that is missed
SHARE_MIN: Final = 0.25  # where others miss theirs whatever batch work does, some of it goes on
ANSWER_PRIOR: Final = 256.0
ANSWER_PACE: Final = 0.02
SHORT: Final = 0.03  # of a usual answer: as short are those that one burst of prompts can make too slow


@final
class PatientShare:
    """One per pool."""

    __slots__ = ("_cut_at_s", "share", "short_tokens")

    def __init__(self) -> None:
        self.share = 1.0  # of what is taken where nothing is missed
        self.short_tokens = SHORT * ANSWER_PRIOR  # of a short answer to those that were promised something
        self._cut_at_s = -inf

    def learn(self, is_kept: bool, has_patient: bool, tokens: int, started_at_s: float, now_s: float) -> None:
        """A request with a promise has ended, with so many tokens, on a replica with batch work or without."""
        self.short_tokens += ANSWER_PACE * (SHORT * tokens - self.short_tokens)
        share = self.share
        if is_kept:
            share *= 1.0 + DECREASE * MISSED_MAX
            self.share = share if share < 1.0 else 1.0
        elif has_patient and started_at_s >= self._cut_at_s:
            share *= 1.0 - DECREASE
            self.share = share if share > SHARE_MIN else SHARE_MIN
            self._cut_at_s = now_s
