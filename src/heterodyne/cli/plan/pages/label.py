"""Names beside points, each where it hides nothing; a name without such a place is left to the tooltip."""

from collections.abc import Iterator, Sequence
from math import hypot

from msgspec import Struct

LETTER_WIDTH = 7.8  # of a letter of the charts' 14 px, taken wide
HEIGHT = 15.0
DISTANCES = (4.0, 14.0, 26.0, 40.0)  # from the mark; those beyond the first get a line back to it
LEADER_PIECES = 8
# Beside, above and below, then between; x and y in units of the distance.
DIRECTIONS = (
    (1, 0),
    (-1, 0),
    (0, -1),
    (0, 1),
    (0.8, -0.8),
    (0.8, 0.8),
    (-0.8, -0.8),
    (-0.8, 0.8),
    (0.3, -1),
    (-0.3, -1),
    (0.3, 1),
    (-0.3, 1),
)


class Box(Struct, frozen=True):
    """A rectangle on the page."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Whether the two share any area."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def is_inside(self, other: "Box") -> bool:
        """Whether nothing of it stands out."""
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )


class Spot(Struct, frozen=True, kw_only=True):
    """A point that wants a name."""

    text: str
    x: float
    y: float
    radius: float


class Label(Struct, frozen=True, kw_only=True):
    """A name that found a place."""

    text: str
    box: Box
    x: float  # of the point
    y: float

    @property
    def is_far(self) -> bool:
        """Whether it takes a line to see whose name it is."""
        nearest_x = min(max(self.x, self.box.left), self.box.right)
        nearest_y = min(max(self.y, self.box.top), self.box.bottom)
        return hypot(self.x - nearest_x, self.y - nearest_y) > DISTANCES[0] + 10

    @property
    def anchor(self) -> tuple[float, float]:
        """Where the line back to the point begins."""
        x = min(max(self.x, self.box.left + LETTER_WIDTH), self.box.right - LETTER_WIDTH)
        y = min(max(self.y, self.box.top), self.box.bottom)
        return x, y

    def leader(self) -> list[Box]:
        """The line back to the point in small pieces; none when it takes no line."""
        if not self.is_far:
            return []
        (x, y), parts = self.anchor, LEADER_PIECES
        places = [
            ((x * part + self.x * (parts - part)) / parts, (y * part + self.y * (parts - part)) / parts)
            for part in range(2, parts)
        ]
        return [Box(across - 1, down - 1, across + 1, down + 1) for across, down in places]


def place_labels(spots: Sequence[Spot], *, inside: Box, taken: Sequence[Box]) -> list[Label]:
    """Greedy, the first of `spots` first: later ones take what is left."""
    obstacles = list(taken)
    placed: list[Label] = []
    for spot in spots:
        candidates = (Label(text=spot.text, box=box, x=spot.x, y=spot.y) for box in _boxes(spot))
        found = next((label for label in candidates if _is_free(label, inside, obstacles, placed)), None)
        if found is not None:
            obstacles += [found.box, *found.leader()]
            placed.append(found)
    return placed


def _is_free(label: Label, inside: Box, obstacles: Sequence[Box], placed: Sequence[Label]) -> bool:
    """Inside, on nothing, and with a line that runs through no other name."""
    if not label.box.is_inside(inside) or any(label.box.meets(other) for other in obstacles):
        return False
    return not any(piece.meets(other.box) for piece in label.leader() for other in placed)


def _boxes(spot: Spot) -> Iterator[Box]:
    """Places for a name around its point, the nearest first."""
    width = len(spot.text) * LETTER_WIDTH
    for distance in DISTANCES:
        for across, down in DIRECTIONS:
            reach = spot.radius + distance
            middle_x = spot.x + across * reach + _sign(across) * width / 2
            middle_y = spot.y + down * reach + _sign(down) * HEIGHT / 2
            yield Box(middle_x - width / 2, middle_y - HEIGHT / 2, middle_x + width / 2, middle_y + HEIGHT / 2)


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)
