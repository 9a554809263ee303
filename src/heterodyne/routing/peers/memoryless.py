"""What a picker does about requests that start and end when it keeps nothing of them."""

from heterodyne.routing.ask import Ask
from heterodyne.routing.picker import Ended
from heterodyne.routing.seat import Seat


class Memoryless:
    """The half of a picker that has nothing to do."""

    def on_start(self, ask: Ask, seat: Seat, now_s: float) -> None:
        """Nothing is kept."""

    def on_end(self, ask: Ask, seat: Seat, ended: Ended, now_s: float) -> None:
        """Nothing was kept."""
