"""Pure: how many tokens an answer will have, by tenant, model and kind of request."""

from collections import OrderedDict
from typing import Final

TOKENS_PRIOR: Final = 256.0
PACE: Final = 0.05
SAMPLES_AT_ONCE: Final = 20  # a mean of the first ones, then a moving one
GROUPS_MAX: Final = 10_000


class OutputLengths:
    """Mean lengths, kept for the groups that came last."""

    __slots__ = ("_means",)

    def __init__(self) -> None:
        self._means: OrderedDict[object, tuple[float, int]] = OrderedDict()

    def expect(self, group: object, at_most: int | None) -> float:
        """Tokens of the next answer; `group` is whatever lengths are alike for."""
        known = self._means.get(group)
        mean = known[0] if known is not None else TOKENS_PRIOR
        return mean if at_most is None or mean < at_most else float(at_most)

    def learn(self, group: object, tokens: float) -> None:
        """An answer is complete."""
        means = self._means
        known = means.get(group)
        if known is None:
            means[group] = (float(tokens), 1)
            if len(means) > GROUPS_MAX:
                means.popitem(last=False)
            return
        mean, count = known
        pace = 1.0 / (count + 1) if count < SAMPLES_AT_ONCE else PACE
        means[group] = (mean + pace * (tokens - mean), count + 1)
        means.move_to_end(group)

    def __len__(self) -> int:
        return len(self._means)
