"""What is known of a request once its head has come, and what headers say in every API."""

from hmac import compare_digest
from typing import Final, final

from heterodyne.admission.callers import BEARER, CallerRing
from heterodyne.admission.host_names import HostNames
from heterodyne.admission.scopes import within
from heterodyne.domain.errors import HeterodyneError, InvalidField, UnsupportedMediaType
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.certified import certified
from heterodyne.gateway.dialects import open_inference
from heterodyne.gateway.form_heads import boundary_of
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.route import Route
from heterodyne.gateway.routes import form_of
from heterodyne.gateway.stored.inner_call import KEY_ID, REGIONS
from heterodyne.wire.message import BODY_BYTES_ANY, BodySink, HeadCheck, HttpRequest
from heterodyne.wire.server_connection import ServerConnection

NONE: Final = b""


@final
class RoutedHead(HeadCheck):
    """A head that was looked at: where it leads, who sent it, and by which names and keys that was found."""

    __slots__ = (
        "_authorization",
        "_encoding",
        "_headers",
        "_host",
        "_host_names",
        "_key_headers",
        "_keys",
        "_method",
        "_path",
        "_type",
        "caller",
        "callers",
        "route",
    )

    def __init__(
        self,
        http: HttpRequest,
        route: Route | None,
        caller: Caller | None,
        callers: CallerRing,
        host_names: HostNames,
        *,
        refusal: HeterodyneError | None = None,
        body_bytes_max: int = BODY_BYTES_ANY,
        body_sink: BodySink | None = None,
    ) -> None:
        super().__init__(refusal=refusal, body_bytes_max=body_bytes_max, body_sink=body_sink)
        self.is_any_length = refusal is not None and route is not None and route.is_upload
        self.route = route
        self.caller = caller
        self.callers = callers
        self._host_names = host_names
        self._method, self._path = http.method, http.path
        self._headers = http.headers
        get = http.headers.get
        self._authorization = get(b"authorization", NONE)
        self._key_headers = () if route is None else route.key_headers
        self._keys = [get(name, NONE) for name in self._key_headers]
        self._host, self._type, self._encoding = get(b"host"), get(b"content-type"), get(b"content-encoding")

    @property
    def form(self) -> ClientForm:
        """The API that it is of."""
        return form_of(self._path) if self.route is None else self.route.form

    def holds_for(self, http: HttpRequest, callers: CallerRing, host_names: HostNames, now_wall_s: float) -> bool:
        """Whether the next head on the connection says the same, and nothing has changed: it was looked at already.

        Behind a proxy it may be somebody else's, so keys are compared in a time that tells nothing of them.
        """
        caller = self.caller
        return (
            self.callers is callers
            and self._host_names is host_names
            and caller is not None
            and (caller.expires_at is None or now_wall_s < caller.expires_at)
            # The reader gives the same headers where the whole head is the same.
            and (http.headers is self._headers or self._is_alike(http))
        )

    def _is_alike(self, http: HttpRequest) -> bool:
        """Whether it says the same of who asks for what."""
        headers = http.headers
        is_alike = (
            http.path == self._path
            and http.method == self._method
            and compare_digest(headers.get(b"authorization", NONE), self._authorization)
            and (not self._key_headers or self._has_keys(http))
            and headers.get(b"host") == self._host
            and headers.get(b"content-type") == self._type
            and headers.get(b"content-encoding") == self._encoding
        )
        if is_alike:
            self._headers = headers
        return is_alike

    def _has_keys(self, http: HttpRequest) -> bool:
        """Whether the headers of other APIs have the same keys."""
        pairs = zip(self._key_headers, self._keys, strict=True)
        return all(compare_digest(http.headers.get(name, NONE), key) for name, key in pairs)


@final
class Arrival:
    """A request that was let in by its head and is not understood yet. Times are of the worker's own clock."""

    __slots__ = ("arrived_s", "caller", "connection", "deadline_s", "http", "request_id", "route", "waited_s")

    def __init__(
        self,
        route: Route,
        http: HttpRequest,
        connection: ServerConnection,
        caller: Caller,
        *,
        request_id: str,
        arrived_s: float = 0.0,
        deadline_s: float = 0.0,
    ) -> None:
        self.route = route
        self.http = http
        self.connection = connection
        self.caller = caller
        self.request_id = request_id
        self.arrived_s = arrived_s
        self.deadline_s = deadline_s
        self.waited_s = 0.0  # for another's answer, or another model's


def caller_of(
    headers: dict[bytes, bytes], route: Route, callers: CallerRing, connection: ServerConnection, now_wall_s: float
) -> Caller:
    """Whose request it is; raises where its key does not open."""
    inner = headers.get(KEY_ID)
    if inner is not None:
        caller, regions = callers.of_key(inner.decode(), now_wall_s), headers.get(REGIONS)
        return caller if regions is None else within(caller, regions.decode().splitlines())
    line, rules = key_line(headers, route.key_headers), callers.certificates
    if rules is None:
        return callers.check(line, now_wall_s)
    return certified(rules, connection.certificate_names, line, callers, now_wall_s)


def key_line(headers: dict[bytes, bytes], key_headers: tuple[bytes, ...]) -> bytes | None:
    """The key as an Authorization header has it, wherever the clients of an API put it; None: there is none."""
    authorization = headers.get(b"authorization")
    if authorization is not None or not key_headers:
        return authorization
    key = next((headers[name] for name in key_headers if name in headers), None)
    return None if key is None else BEARER + key


def check_media_type(headers: dict[bytes, bytes], *, is_form: bool) -> None:
    """Only declared JSON: a web page cannot send that to a loopback port without being asked first. Or a form, where
    the path takes one."""
    if is_form:
        boundary_of(headers)
        return
    declared = headers.get(b"content-type", b"")
    if not declared.lower().startswith(b"application/json"):
        if b"inference-header-content-length" in headers:
            raise UnsupportedMediaType(open_inference.BINARY)
        raise UnsupportedMediaType("Send the body as JSON with the header `Content-Type: application/json`.")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise UnsupportedMediaType("Compressed request bodies are not supported.")


def longest_wait_s(asked: bytes, longest_s: float) -> float:
    """How long the client is ready to wait."""
    if not asked.isdigit() or len(asked) > 12 or not 0 < int(asked) <= longest_s * 1000:
        raise InvalidField(
            f"x-heterodyne-deadline-ms: a whole number of milliseconds up to {longest_s * 1000:.0f} is expected.",
            param="x-heterodyne-deadline-ms",
        )
    return int(asked) / 1000
