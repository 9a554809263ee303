"""Prices for a row from the nearest rows that a fit may see, as profiles are looked up: model, chip, engine.

Dense models of one engine differ little, so their rows set prices nearly freely. Mixtures differ from each other more
than chips or engines do: all of them set the prices together, every group with the same weight, and an engine or a chip
moves them only as far as its rows insist.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from benchmarks.physics.accuracy import RIDGE, TRANSFER_RIDGE, VERSION_POINTS, fit, fit_first
from benchmarks.physics.silicon.rows import Point
from heterodyne.physics.prices import DATASHEET, Prices
from heterodyne.physics.profile import FirstToken

NARROW_RIDGE = 10.0  # how firmly an engine and a chip are held to the level before, among mixtures
# From the widest to the nearest: how much of a row's key its teachers share, and how firmly they are held to the level
# before; the first to the datasheet's priors.
LEVELS = ("kind", "engine", "chip", "model", "version")
WIDTHS = (1, 2, 3, 5, 6)
MIXTURE_RIDGES = (3e-2, NARROW_RIDGE, NARROW_RIDGE, RIDGE, RIDGE)
DENSE_RIDGES = (None, TRANSFER_RIDGE, RIDGE, RIDGE, RIDGE)

Known = tuple[Prices, FirstToken]


class Pool:
    """What a set of rows teaches, fitted when it is asked for."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.points = list(points)
        self._teaching = _of_named_versions(self.points)
        self._fitted: dict[tuple[object, ...], tuple[Prices, list[Point]]] = {}
        self._firsts: dict[tuple[object, ...], FirstToken] = {}

    def nearest(self, point: Point) -> Known:
        """What is known for this row: of its model and version, its model, its chip, its engine, or the datasheet."""
        return self._known(point, len(LEVELS))

    def level(self, point: Point) -> str | None:
        """The nearest level that has rows to answer `nearest` with; None: the datasheet answers."""
        self.nearest(point)
        if not self._has_engine(point):
            return None
        key = _key(point)
        return next(
            level for level, width in reversed(list(zip(LEVELS, WIDTHS, strict=True)))
            if self._fitted.get(key[:width], (None, []))[1]
        )  # fmt: skip

    def of_model(self, point: Point) -> Known:
        """What is known for the row's model there, whatever the version."""
        return self._known(point, LEVELS.index("version"))

    def of_chip(self, point: Point) -> Known:
        """What is known for another model of this kind on the row's chip and engine."""
        return self._known(point, LEVELS.index("model"))

    def of_engine(self, point: Point) -> Known:
        """What is known for another chip under the row's engine."""
        return self._known(point, LEVELS.index("chip"))

    def narrowed(self, points: Sequence[Point], prices: Prices) -> Prices:
        """Prices of an engine as the rows of some of its chips have them."""
        has_experts = points[0].has_experts
        ridge = NARROW_RIDGE if has_experts else TRANSFER_RIDGE
        teaching = set(map(id, self._teaching))
        mine = [point for point in points if id(point) in teaching] or points
        return fit(mine, prior=prices, ridge=ridge, weights=_evenly(mine) if has_experts else None)

    def _known(self, point: Point, levels: int) -> Known:
        prices, first = DATASHEET, FirstToken()
        if not self._has_engine(point):
            return prices, first
        key, ridges = _key(point), MIXTURE_RIDGES if point.has_experts else DENSE_RIDGES
        for level, (width, ridge) in enumerate(zip(WIDTHS, ridges, strict=True)):
            if ridge is None or level >= levels:
                continue
            prices, mine = self._fit(key[:width], prices, ridge)
            if mine and level:
                first = self._firsts.get(key[:width]) or fit_first(mine, prices)
                self._firsts[key[:width]] = first
        return prices, first

    def _has_engine(self, point: Point) -> bool:
        return any(one.engine == point.engine and one.has_experts == point.has_experts for one in self._teaching)

    def _fit(self, key: tuple[object, ...], prior: Prices, ridge: float) -> tuple[Prices, list[Point]]:
        found = self._fitted.get(key)
        if found is None:
            # A model's own rows all speak for it; for others only those whose version is known, where there are any.
            rows = self.points if len(key) > WIDTHS[LEVELS.index("chip")] else self._teaching
            mine = [point for point in rows if _key(point)[: len(key)] == key]
            if len(mine) < VERSION_POINTS:
                found = (prior, [])
            else:
                found = (fit(mine, prior=prior, ridge=ridge, weights=_evenly(mine) if key[0] else None), mine)
            self._fitted[key] = found
        return found


def _key(point: Point) -> tuple[object, ...]:
    return (point.has_experts, point.engine, point.system, point.precision, point.model, point.engine_version)


def _evenly(points: Sequence[Point]) -> list[float]:
    """Every group the same weight, however many rows it has."""
    sizes = Counter((*point.group, point.model) for point in points)
    return [1.0 / sizes[(*point.group, point.model)] for point in points]


def _of_named_versions(points: Sequence[Point]) -> list[Point]:
    """Rows without a version are of older engines, where others of their group have one."""
    named: dict[tuple[object, ...], bool] = defaultdict(bool)
    for point in points:
        named[(*point.group, point.model)] |= bool(point.engine_version)
    return [point for point in points if point.engine_version or not named[(*point.group, point.model)]]
