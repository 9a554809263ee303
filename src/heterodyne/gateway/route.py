"""What answers one path of the API."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from heterodyne.domain.errors import MethodNotAllowed
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.dialects.body import LongReader, Reader
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.passing import OPENAI
from heterodyne.gateway.pages import PageResponse, PageSource
from heterodyne.gateway.stored.recall import Recalled
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.gateway.stored.work import TIMEOUT_S
from heterodyne.wire.message import HttpRequest

API_KEY: Final = b"x-api-key"  # where Anthropic's clients put their key

Page = Callable[[PageSource, HttpRequest, Caller], PageResponse]
StoredPage = Callable[[StoredRoom, HttpRequest, Caller], Awaitable[PageResponse]]
TryRecall = Callable[[bytes], Recalled | None]


class Route(Struct, frozen=True, kw_only=True):
    """One path: either an inference call that is read into a request, or a page answered at once."""

    method: bytes
    read: Reader | None = None
    try_read_long: LongReader | None = None  # a quicker one, for bodies that are long by their texts
    form: ClientForm = OPENAI
    key_headers: tuple[bytes, ...] = ()  # beside Authorization, where clients of its APIs put their key
    try_recall: TryRecall | None = None  # what a body follows is looked up before it is read
    is_deferred: Callable[[bytes], bool] | None = None  # whether a body is to be answered in the background
    page: Page | None = None
    stored_page: StoredPage | None = None
    is_upload: bool = False  # its body is a form with a file, which goes to the disk as it comes
    is_form: bool = False  # its body is a form that is held whole, with a sound or pictures in it
    longest_s: float = TIMEOUT_S  # that what is kept may take
    also: Mapping[bytes, "Route"] = MappingProxyType({})  # the routes of the path's other methods
    is_open: bool = False  # needs no key
    is_metrics: bool = False  # open by gateway.metrics_access
    is_probe: bool = False  # answers to any name, as probes call us by our address

    @property
    def takes_body(self) -> bool:
        """Whether what follows the head is read."""
        return self.page is None and (self.stored_page is None or self.method == b"POST")

    def of_method(self, method: bytes) -> "Route":
        """The same path's route of another method; raises MethodNotAllowed where there is none."""
        found = self.also.get(method)
        if found is None:
            allow = ", ".join(one.decode() for one in (self.method, *self.also))
            raise MethodNotAllowed(f"This path takes {allow} only.", allow=allow)
        return found
