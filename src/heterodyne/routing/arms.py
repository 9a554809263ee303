"""Pure: which version of a model a conversation gets while a rollout runs, and that it keeps it.

A conversation that begins is drawn by its name, so that all workers draw alike. What was drawn is remembered here and
told to the others, for the share grows from stage to stage, and a conversation must not move when it does. One that
goes on and that nobody remembers, as after a restart, most likely began under the stage before.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, final

import msgspec

from heterodyne.domain.fleet import Replica
from heterodyne.domain.rollout_split import RolloutSplit

CONVERSATIONS_MAX: Final = 100_000
ROLLOUTS_MAX: Final = 64  # whose sides are kept
NOTES_MAX: Final = 2000  # that wait to be told
MESSAGE_NOTES_MAX: Final = 500
DRAW_SIGNS: Final = 13  # of a hash in hexadecimal: 52 bits

Note = tuple[str, str, bool]  # rollout, conversation, whether the candidate has it

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Note]).decode


@final
class Arm:
    """One side of a rollout."""

    __slots__ = ("is_candidate", "split")

    def __init__(self, split: RolloutSplit, *, is_candidate: bool) -> None:
        self.split = split
        self.is_candidate = is_candidate

    def of(self, replicas: Sequence[Replica]) -> list[Replica]:
        """Of these, those on this side."""
        return [replica for replica in replicas if self.split.is_candidate(replica.pool) is self.is_candidate]


class Arms:
    """Of one worker."""

    def __init__(self, conversations_max: int = CONVERSATIONS_MAX) -> None:
        self._known: OrderedDict[tuple[str, str], bool] = OrderedDict()
        self._conversations_max = conversations_max
        self._notes: deque[Note] = deque(maxlen=NOTES_MAX)
        self._sides: dict[str, tuple[Arm, Arm]] = {}  # by rollout

    def baseline(self, split: RolloutSplit) -> Arm:
        """The side that all are on while the candidate gets nobody."""
        return self._sides_of(split)[False]

    def is_known(self, split: RolloutSplit, conversation: str) -> bool:
        """Whether its side is remembered."""
        return (split.rollout, conversation) in self._known

    def arm(self, split: RolloutSplit, conversation: str, *, goes_on: bool) -> Arm:
        """The side that it is on; `goes_on`: it has been answered before."""
        sides = self._sides_of(split)
        if split.share <= 0.0:
            return sides[False]  # a version that was taken back answers nobody, whatever it began
        key = (split.rollout, conversation)
        is_candidate = self._known.get(key)
        if is_candidate is None:
            is_candidate = draw(split.rollout, conversation) < (split.share_before if goes_on else split.share)
            self._notes.append((*key, is_candidate))
        self._remember(key, is_candidate=is_candidate)
        return sides[is_candidate]

    def take(self) -> bytes | None:
        """The next message for the other workers; None: there is nothing to tell."""
        if not self._notes:
            return None
        return _encode([self._notes.popleft() for _ in range(min(len(self._notes), MESSAGE_NOTES_MAX))])

    def hear(self, message: bytes) -> None:
        """What another worker has drawn; raises ValueError where it is no such message."""
        for rollout, conversation, is_candidate in _decode(message):
            self._remember((rollout, conversation), is_candidate=is_candidate)

    def _sides_of(self, split: RolloutSplit) -> tuple[Arm, Arm]:
        sides = self._sides.get(split.rollout)
        if sides is None or sides[0].split is not split:
            if len(self._sides) >= ROLLOUTS_MAX:
                self._sides.clear()
            sides = self._sides[split.rollout] = Arm(split, is_candidate=False), Arm(split, is_candidate=True)
        return sides

    def _remember(self, key: tuple[str, str], *, is_candidate: bool) -> None:
        self._known[key] = is_candidate
        self._known.move_to_end(key)
        if len(self._known) > self._conversations_max:
            self._known.popitem(last=False)


def draw(rollout: str, conversation: str) -> float:
    """From 0 to 1, the same everywhere; another rollout draws others."""
    return int(sha256(f"{rollout} {conversation}".encode()).hexdigest()[:DRAW_SIGNS], 16) / 16**DRAW_SIGNS
