"""Which kept answers were dropped. Pure.

An answer is looked at when it is asked for, wherever it was kept: so a drop costs the same however much is kept, and
holds for a store that was away when it was made. What counts is when an answer was asked for, not when it came: one
that was under way when its source changed may be of the old one.
"""

from collections.abc import Iterable
from typing import final

from heterodyne.caching.entry import CachedAnswer
from heterodyne.domain.cache_drop import CacheDrop


@final
class CacheDrops:
    """All that may still matter."""

    def __init__(self, drops: Iterable[CacheDrop] = ()) -> None:
        self._at: dict[tuple[str, str, str], float] = {}
        for one in drops:
            key = (one.tag, one.model, one.project)
            self._at[key] = max(one.at, self._at.get(key, 0.0))

    def has_dropped(self, answer: CachedAnswer) -> bool:
        """Whether it may not be given again."""
        if not self._at:
            return False
        models = ("", answer.model_version.rpartition("@")[0])
        return any(
            answer.asked_at_s < self._at.get((tag, model, project), 0.0)
            for tag in ("", *answer.tags)
            for model in models
            for project in ("", answer.project)
        )
