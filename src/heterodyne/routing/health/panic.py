"""When so many replicas of a model are judged bad that the judgement itself must be doubted.

If most replicas fail, the cause is more likely common to all (a bad request, a network, a dependency), and the few that
are left could not carry the load anyway. Spreading over all of them loses less.
"""


class Panic:
    """One per model: whether judgements are being ignored, and how often that began."""

    __slots__ = ("_share", "begun", "is_on")

    def __init__(self, share: float) -> None:
        self._share = share
        self.is_on = False
        self.begun = 0

    def judge(self, usable: int, known: int) -> bool:
        """`usable` of the `known` replicas are in good standing."""
        is_on = usable < self._share * known
        if is_on and not self.is_on:
            self.begun += 1
        self.is_on = is_on
        return is_on
