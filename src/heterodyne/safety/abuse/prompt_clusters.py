"""Prompts that are nearly one, and who sends them: each group is known by the signature that began it.

Memory is bounded: so many groups, and so many senders of each; the group that was heard of longest ago goes first, and
every group goes once nobody has sent such a prompt for a window.
"""

from collections import OrderedDict
from typing import Final, final

from heterodyne.safety.abuse.band_index import BandIndex
from heterodyne.safety.abuse.minhash import similarity
from heterodyne.safety.abuse.windowed_count import WindowedCount

CLUSTERS_MAX: Final = 10_000
SENDERS_MAX: Final = 256  # of one group; more keys than this are known to be too many


@final
class Sender:
    """One key in one group."""

    __slots__ = ("key", "last_at", "project", "prompts")

    def __init__(self, key: str, project: str, window_s: float) -> None:
        self.key = key
        self.project = project
        self.prompts = WindowedCount(window_s)
        self.last_at = 0.0


@final
class PromptCluster:
    """One group."""

    __slots__ = ("last_at", "senders", "signature")

    def __init__(self, signature: bytes) -> None:
        self.signature = signature
        self.senders: dict[str, Sender] = {}
        self.last_at = 0.0


class PromptClusters:
    """All groups of one policy."""

    def __init__(self, similarity_min: float, window_s: float, *, clusters_max: int = CLUSTERS_MAX) -> None:
        self._similarity_min = similarity_min
        self._window_s = window_s
        self._clusters_max = clusters_max
        self._clusters: OrderedDict[int, PromptCluster] = OrderedDict()  # the one heard of last is the last
        self._index = BandIndex()
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._clusters)

    def add(self, signature: bytes, key: str, project: str, at: float) -> PromptCluster:
        """The group that a prompt belongs to, with its sender counted; at worst one of its own."""
        self._forget(at)
        id_ = self._nearest(signature)
        if id_ is None:
            id_ = self._begin(signature)
        cluster = self._clusters[id_]
        self._clusters.move_to_end(id_)
        cluster.last_at = max(cluster.last_at, at)
        self._count(cluster, key, project, at)
        return cluster

    def _nearest(self, signature: bytes) -> int | None:
        best, nearest = self._similarity_min, None
        for id_ in self._index.near(signature):
            alike = similarity(self._clusters[id_].signature, signature)
            if alike >= best:
                best, nearest = alike, id_
        return nearest

    def _begin(self, signature: bytes) -> int:
        if len(self._clusters) >= self._clusters_max:
            self._drop_oldest()
        self._last_id += 1
        self._clusters[self._last_id] = PromptCluster(signature)
        self._index.add(self._last_id, signature)
        return self._last_id

    def _count(self, cluster: PromptCluster, key: str, project: str, at: float) -> None:
        senders = cluster.senders
        sender = senders.pop(key, None)  # and back as the last: the first is the one that was silent longest
        if sender is None:
            sender = Sender(key, project, self._window_s)
        senders[key] = sender
        sender.prompts.add(at)
        sender.last_at = at
        first = next(iter(senders))
        if len(senders) > SENDERS_MAX or senders[first].last_at < at - self._window_s:
            del senders[first]

    def _forget(self, at: float) -> None:
        """At most two at a time, which is more than come."""
        for _ in range(2):
            oldest = next(iter(self._clusters.values()), None)
            if oldest is None or oldest.last_at >= at - self._window_s:
                return
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        id_, cluster = self._clusters.popitem(last=False)
        self._index.remove(id_, cluster.signature)
