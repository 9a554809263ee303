"""Pure: which version of a model a conversation gets while a rollout runs, and that it keeps it.

A conversation that begins is drawn by its name, so that all workers draw alike. What was drawn is remembered here and
told to the others, for the share grows from stage to stage, and a conversation must not move when it does. One that
goes on and that nobody remembers, as after a restart, most likely began under the stage before.

Where the baseline has a control group, as many conversations are drawn for it as for the candidate, and keep it in the
same way: what is seen of both then differs by the version alone.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from enum import IntEnum
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


class Side(IntEnum):
    """Where a conversation is."""

    BASELINE = 0
    CANDIDATE = 1
    CONTROL = 2  # of the baseline, those that the candidate's times are compared with


Note = tuple[str, str, Side]  # rollout, conversation, where it is

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Note]).decode


@final
class Arm:
    """One side of a rollout."""

    __slots__ = ("is_candidate", "side", "split")

    def __init__(self, split: RolloutSplit, side: Side) -> None:
        self.split = split
        self.side = side
        self.is_candidate = side is Side.CANDIDATE

    def of(self, replicas: Sequence[Replica]) -> list[Replica]:
        """Of these, those that have its version."""
        return [replica for replica in replicas if self.split.is_candidate(replica.pool) is self.is_candidate]

    def nearest(self, replicas: Sequence[Replica]) -> Sequence[Replica]:
        """Of those that have its version, its own group; all of them where nobody of it is left."""
        split = self.split
        if self.side is Side.CANDIDATE:
            group = [one for one in replicas if one.id in split.candidate_replicas]
        elif self.side is Side.CONTROL:
            group = [one for one in replicas if one.id in split.control_replicas]
        else:
            group = [one for one in replicas if one.id not in split.control_replicas]
        return group or replicas


class Arms:
    """Of one worker."""

    def __init__(self, conversations_max: int = CONVERSATIONS_MAX) -> None:
        self._known: OrderedDict[tuple[str, str], Side] = OrderedDict()
        self._conversations_max = conversations_max
        self._notes: deque[Note] = deque(maxlen=NOTES_MAX)
        self._sides: dict[str, tuple[Arm, ...]] = {}  # by rollout, in the order of `Side`

    def baseline(self, split: RolloutSplit) -> Arm:
        """The side that all are on while the candidate gets nobody."""
        return self._sides_of(split)[Side.BASELINE]

    def is_known(self, split: RolloutSplit, conversation: str) -> bool:
        """Whether its side is remembered."""
        return (split.rollout, conversation) in self._known

    def arm(self, split: RolloutSplit, conversation: str, *, goes_on: bool) -> Arm:
        """The side that it is on; `goes_on`: it has been answered before."""
        sides = self._sides_of(split)
        if split.share <= 0.0:
            return sides[Side.BASELINE]  # a version that was taken back answers nobody, whatever it began
        key = (split.rollout, conversation)
        side = self._known.get(key)
        if side is None:
            side = _drawn(split, conversation, split.share_before if goes_on else split.share)
            self._notes.append((*key, side))
        self._remember(key, side)
        return sides[side]

    def take(self) -> bytes | None:
        """The next message for the other workers; None: there is nothing to tell."""
        if not self._notes:
            return None
        return _encode([self._notes.popleft() for _ in range(min(len(self._notes), MESSAGE_NOTES_MAX))])

    def hear(self, message: bytes) -> None:
        """What another worker has drawn; raises ValueError where it is no such message."""
        for rollout, conversation, side in _decode(message):
            self._remember((rollout, conversation), side)

    def _sides_of(self, split: RolloutSplit) -> tuple[Arm, ...]:
        sides = self._sides.get(split.rollout)
        if sides is None or sides[0].split is not split:
            if len(self._sides) >= ROLLOUTS_MAX:
                self._sides.clear()
            sides = self._sides[split.rollout] = tuple(Arm(split, side) for side in Side)
        return sides

    def _remember(self, key: tuple[str, str], side: Side) -> None:
        self._known[key] = side
        self._known.move_to_end(key)
        if len(self._known) > self._conversations_max:
            self._known.popitem(last=False)


def _drawn(split: RolloutSplit, conversation: str, share: float) -> Side:
    place = draw(split.rollout, conversation)
    if place < share:
        return Side.CANDIDATE
    return Side.CONTROL if split.control_replicas and place < 2 * share else Side.BASELINE


def draw(rollout: str, conversation: str) -> float:
    """From 0 to 1, the same everywhere; another rollout draws others."""
    return int(sha256(f"{rollout} {conversation}".encode()).hexdigest()[:DRAW_SIGNS], 16) / 16**DRAW_SIGNS
