"""Where requests are audited, where changes are, and where anchors of the log are kept."""

from typing import Protocol

from heterodyne.domain.audit import Anchor, ChangeEntry, Content, RequestEntry


class AuditSink(Protocol):
    """The data plane's end."""

    @property
    def is_blocked(self) -> bool:
        """Whether new requests have to be refused because they could not be audited."""
        ...

    def write(self, entry: RequestEntry, content: Content | None = None) -> None:
        """Must return at once; hashing and writing happen off the request's path."""
        ...


class ChangeLog(Protocol):
    """The operators' end."""

    def record(self, change: ChangeEntry) -> None:
        """Blocks until the change is on disk; raises `StoreUnavailable` or `AuditBroken` when it is not."""
        ...


class AnchorStore(Protocol):
    """A place outside the log's reach."""

    def put(self, anchor: Anchor) -> None:
        """Keep an anchor; raises `StoreUnavailable` within a bounded time."""
        ...
