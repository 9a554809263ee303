"""A request that no answer was kept for: it watches its own answer, and hands it over when that is whole."""

from collections.abc import Callable
from typing import Final, final

from heterodyne.domain.cache_use import MISS, EventEdit
from heterodyne.domain.operation import Operation
from heterodyne.gateway.caching.semantic_cache import SemanticLook
from heterodyne.gateway.collected_stream import CollectedStream, collector_of
from heterodyne.gateway.offload.answering import ANSWER_BYTES_LARGE

HEADER: Final = b"x-heterodyne-cache: miss\r\n"

Settled = Callable[["CacheMiss", bytes | None, float], None]


@final
class CacheMiss:
    """Has an end exactly once. One per request."""

    __slots__ = (
        "_body",
        "_collected",
        "_is_settled",
        "_operation",
        "_settled",
        "cache",
        "has_waited",
        "key",
        "look",
        "model",
        "version",
        "was_shared",
    )

    def __init__(
        self,
        key: bytes,
        *,
        cache: str,
        operation: Operation,
        model: str,
        version: str,
        look: SemanticLook | None,
        settled: Settled,
    ) -> None:
        self.key = key
        self.cache = cache  # the name of the policy that would keep its answer
        self.look = look  # for an answer to another prompt; None: there is none
        self.was_shared = False  # looked for where several keep answers together
        self.has_waited = False  # for the same request, or for its embedding
        self.model = model  # that has to answer, and which version of it
        self.version = version
        self._operation = operation
        self._settled = settled  # hears the answer and what it cost; None: there is none to keep
        self._body: bytes | None = None
        self._collected: CollectedStream | None = None  # the latest whose end has come
        self._is_settled = False

    @property
    def outcome(self) -> str:
        return MISS

    @property
    def pool(self) -> str:
        return ""

    @property
    def saved_usd(self) -> float | None:
        return None

    @property
    def header(self) -> bytes:
        return HEADER

    def stay_here(self) -> None:
        """It is not looked for where several keep answers: a key or a prompt's vector would tell of it."""
        self.was_shared = True
        if self.look is not None:
            self.look.was_shared = True

    def take(self, body: bytes) -> None:
        self._body = body

    def watch(self, edit: EventEdit | None) -> EventEdit:
        return CollectedStream(edit, collector_of(self._operation), self._streamed)

    def settle(self, *, is_whole: bool, model: str, version: str, usd: float) -> None:
        if self._is_settled:
            return
        self._is_settled = True
        is_meant = model == self.model and version == self.version  # and no other that it fell back to
        self._settled(self, self._whole() if is_whole and is_meant else None, usd)

    def drop(self) -> None:
        """It has ended before a replica was asked."""
        self.settle(is_whole=False, model="", version="", usd=0.0)

    def _streamed(self, stream: CollectedStream) -> None:
        self._collected = stream

    def _whole(self) -> bytes | None:
        body = self._body if self._collected is None else self._collected.whole()
        return None if body is None or len(body) > ANSWER_BYTES_LARGE else body
