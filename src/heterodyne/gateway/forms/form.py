"""What a client's API asks of answers: their words, their events, their errors."""

from collections.abc import Callable
from typing import Protocol, final

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.kept import KeptAnswer
from heterodyne.gateway.forms.plain_text import PlainText


class StreamForm(Protocol):
    """One stream in the words of its client's API; it lives as long as the stream, whoever goes on with it."""

    @property
    def plain_text(self) -> PlainText:
        """How the events look that only add text; those that were looked into tell it."""
        ...

    def events(self, event: bytes) -> bytes:
        """What takes the place of one of OpenAI's, without the empty line at its end; may be nothing."""
        ...

    def told(self, texts: list[bytes]) -> bytes:
        """The same of several that only add these texts, which are JSON without its quotes, as the one before did."""
        ...

    def error_event(self, error: HeterodyneError) -> bytes:
        """The last event of a stream that cannot be completed."""
        ...


class KeptStream(StreamForm, Protocol):
    """One whose answer is kept before its client hears of the end."""

    def last(self, *, is_kept: bool) -> bytes:
        """The events that end it."""
        ...

    def kept(self) -> KeptAnswer:
        """What is to be kept of it, once all of it has come."""
        ...


@final
class ClientForm:
    """One API. Without `whole` and `stream`, answers pass as they are inside."""

    __slots__ = ("error_body", "kept_stream", "kept_whole", "stream", "whole")

    def __init__(
        self,
        error_body: Callable[[HeterodyneError], bytes],
        *,
        whole: Callable[[Request, bytes], bytes] | None = None,
        stream: Callable[[Request], StreamForm] | None = None,
        kept_whole: Callable[[Request, bytes], KeptAnswer] | None = None,
        kept_stream: Callable[[Request], KeptStream] | None = None,
    ) -> None:
        self.error_body = error_body
        self.whole = whole  # raises EngineGarbage for an answer that cannot be told
        self.stream = stream
        # The same of answers that are kept; None: this API keeps none.
        self.kept_whole = kept_whole
        self.kept_stream = kept_stream
