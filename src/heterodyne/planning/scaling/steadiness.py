"""Why it does not flap: what was needed lately is remembered, and turning round is rationed.

Going up is never delayed. Going down waits until the highest need of a whole window is met with less, and until few
enough turns lie in the last hour that this one and the way back up still fit into four. What gives little back does not
turn soon after another turn.
"""

from msgspec import Struct

WINDOW_S = 300.0  # of needs, at least
COLD_STARTS = 2.0  # or so many of them: who starts slowly goes down slowly
TURNS_S = 3600.0
TURNS_MAX = 4  # changes of direction within that time
WORTHWHILE = 0.2  # of the replicas: a step down that gives back less is not taken soon after a turn
SOON_S = 900.0
UP, DOWN = 1, -1


class Steadiness(Struct, frozen=True, kw_only=True):
    """What is remembered."""

    needs: tuple[tuple[float, float], ...] = ()  # when, and usual requests a second
    turned_at_s: tuple[float, ...] = ()
    direction: int = 0  # of the last step; 0: there was none

    def peak(self, now_s: float, window_s: float) -> float:
        """The highest need of the window."""
        return max((need for at_s, need in self.needs if at_s >= now_s - window_s), default=0.0)

    def is_seen(self, now_s: float, window_s: float) -> bool:
        """Whether it has been looked at for so long."""
        return bool(self.needs) and self.needs[0][0] <= now_s - window_s

    def may_turn_down(self, now_s: float, share: float) -> bool:
        """Whether a step down by this share, and one up after it, stay within the ration."""
        if self.direction != UP:
            return True
        if share < WORTHWHILE and any(at_s > now_s - SOON_S for at_s in self.turned_at_s):
            return False
        return sum(at_s > now_s - TURNS_S for at_s in self.turned_at_s) + 2 <= TURNS_MAX

    def with_need(self, now_s: float, need: float, window_s: float) -> "Steadiness":
        """One more look, and nothing older than the window but one."""
        old = sum(at_s < now_s - window_s for at_s, _ in self.needs)
        return Steadiness(
            needs=(*self.needs[max(0, old - 1) :], (now_s, need)),
            turned_at_s=self.turned_at_s,
            direction=self.direction,
        )

    def with_step(self, now_s: float, direction: int) -> "Steadiness":
        """A step was taken."""
        turned = self.turned_at_s
        if self.direction and direction != self.direction:
            turned = (*(at_s for at_s in turned if at_s > now_s - TURNS_S), now_s)
        return Steadiness(needs=self.needs, turned_at_s=turned, direction=direction)


def window_s(cold_start_s: float) -> float:
    """For replicas that start so slowly."""
    return max(WINDOW_S, COLD_STARTS * cold_start_s)
