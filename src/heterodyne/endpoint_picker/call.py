"""One request of a proxy, message by message: its head and body, then the answer's, and what we say to each.

head -> (body ->) picked, or refused      the proxy forwards it, or answers with our error
answer's head -> answer's body -> end     we read along, and change nothing
"""

from typing import Any, Final

from heterodyne.domain.errors import BodyTooLarge, HeterodyneError, InternalError, Overloaded
from heterodyne.endpoint_picker import replies
from heterodyne.endpoint_picker.forwarded import ForwardedHead
from heterodyne.endpoint_picker.messages import BodySendMode
from heterodyne.endpoint_picker.picker import EndpointPicker, Picked
from heterodyne.endpoint_picker.protocol import (
    TEST_SELECTED,
    TEST_SERVED,
    attribute,
    headers_of,
    served_endpoint,
    try_subset,
)
from heterodyne.gateway.forms.passing import OPENAI

WHOLE_MODES: Final = (BodySendMode.NONE, BodySendMode.BUFFERED, BodySendMode.FULL_DUPLEX_STREAMED)
# How a proxy's details begin where no connection to the replica came about, or none that carried the request.
UNREACHED: Final = ("upstream_reset_before_response_started", "no_healthy_upstream", "cluster_not_found")
DETAILS: Final = "response.code_details"


class Call:
    """One stream of messages. `is_over` once it needs no more of them."""

    def __init__(self, picker: EndpointPicker, inference_pool: str, bodies_bytes_max: int) -> None:
        self._picker = picker
        self._inference_pool = inference_pool
        self._bodies_bytes_max = bodies_bytes_max
        self._head: ForwardedHead | None = None
        self._picked: Picked | None = None
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._request_mode = self._response_mode = BodySendMode.FULL_DUPLEX_STREAMED  # where a proxy does not say
        self.is_over = False

    @property
    def deadline_s(self) -> float | None:
        """Until when the next message may come; None: its head has not come."""
        return None if self._head is None else self._head.deadline_s

    @property
    def is_receiving(self) -> bool:
        """Whether its request has not come whole."""
        return self._picked is None

    async def take(self, message: Any) -> list[Any]:
        """What is to be said to a message."""
        try:
            return await self._taken(message)
        except HeterodyneError as error:
            head = self._head
            self.is_over = True
            self._let_go()
            form, request_id = (OPENAI, "") if head is None else (head.form, head.request_id)
            return [replies.refused(error, form, request_id)]

    def late(self, error: HeterodyneError) -> Any:
        """The next message did not come in time."""
        head, self.is_over = self._head, True
        self._picker.refused(error, head if self._picked is None else None)
        return replies.refused(error, OPENAI if head is None else head.form, "" if head is None else head.request_id)

    def end(self) -> None:
        """The proxy says no more; whatever is held is given back."""
        self._let_go()
        if self._picked is not None and self._picked.pick is not None:
            self._picked.pick.gone()

    async def _taken(self, message: Any) -> list[Any]:
        match message.WhichOneof("request"):
            case "request_headers":
                return await self._take_head(message)
            case "request_body":
                return await self._take_body(message.request_body.body, ends=message.request_body.end_of_stream)
            case "request_trailers":
                said = [] if self._picked is not None else await self._decide(has_trailers=True)
                return [*said, replies.REQUEST_TRAILERS]
            case "response_headers":
                return [self._take_answer_head(message)]
            case "response_body":
                return self._take_answer_body(message.response_body)
            case "response_trailers":
                self._answer_ends()
                return [replies.RESPONSE_TRAILERS]
        return []

    async def _take_head(self, message: Any) -> list[Any]:
        if message.HasField("protocol_config"):
            self._request_mode = message.protocol_config.request_body_mode
            self._response_mode = message.protocol_config.response_body_mode
        headers = headers_of(message.request_headers.headers)
        try:
            if self._request_mode not in WHOLE_MODES:
                raise InternalError(
                    f"ext_proc: request_body_mode {_named(self._request_mode)} lets the request go "
                    "before its body is read; set FULL_DUPLEX_STREAMED, or BUFFERED."
                )
            subset = try_subset(message.metadata_context)
            self._head = self._picker.reader.head(headers, self._inference_pool, subset)
        except HeterodyneError as error:
            self._picker.refused(error, None)
            raise
        if message.request_headers.end_of_stream or self._request_mode == BodySendMode.NONE:
            self._picked = picked = await self._picker.pick(self._head, b"")
            lines = replies.lines(picked.headers)
            return [replies.picked_in_headers(picked.endpoint, lines, picked.removed)]
        # Of a body that is buffered the proxy sends nothing before it has heard that its head is well.
        return [replies.REQUEST_HEADERS] if self._request_mode == BodySendMode.BUFFERED else []

    async def _take_body(self, piece: bytes, *, ends: bool) -> list[Any]:
        if self._picked is not None:  # more than there was to be
            return [replies.REQUEST_BODY]
        self._hold(piece)
        if not ends and self._request_mode != BodySendMode.BUFFERED:
            return []
        return await self._decide(has_trailers=False)

    async def _decide(self, *, has_trailers: bool) -> list[Any]:
        assert self._head is not None, "a head comes before all else"
        body = b"".join(self._body)
        self._let_go()
        self._picked = picked = await self._picker.pick(self._head, body)
        lines = replies.lines(picked.headers)
        sent = body if picked.body is None else picked.body
        if len(sent) != len(body):
            lines.append(("content-length", b"%d" % len(sent)))
        if self._request_mode == BodySendMode.BUFFERED:
            return [replies.picked_in_body(picked.endpoint, lines, picked.removed, picked.body)]
        return [
            replies.picked_in_headers(picked.endpoint, lines, picked.removed),
            *replies.request_pieces(sent, ends_stream=not has_trailers),
        ]

    def _take_answer_head(self, message: Any) -> Any:
        picked, headers = self._picked, headers_of(message.response_headers.headers)
        if picked is None:
            return replies.RESPONSE_HEADERS
        served, lines = served_endpoint(message), replies.lines(picked.answer_headers)
        if self._head is not None:
            lines.append(("x-heterodyne-request-id", self._head.request_id.encode()))
        if self._picker.rules().settings.heeds_conformance_headers:
            lines.append((TEST_SELECTED, picked.endpoint.encode()))
            lines.append((TEST_SERVED, served.encode() or b"fail: missing destination endpoint served metadata"))
        if picked.pick is not None:
            status, details = headers.get(b":status", b"0"), attribute(message, DETAILS)
            picked.pick.answer_begins(int(status), headers, is_unreached=details.startswith(UNREACHED))
        if message.response_headers.end_of_stream:
            self._answer_ends()
        return replies.response_headers(lines)

    def _take_answer_body(self, body: Any) -> list[Any]:
        if self._picked is not None and self._picked.pick is not None:
            self._picked.pick.answer_continues(body.body)
        if body.end_of_stream:
            self._answer_ends()
        if self._response_mode == BodySendMode.FULL_DUPLEX_STREAMED:
            return [replies.response_piece(body.body, ends_stream=body.end_of_stream)]
        return [replies.RESPONSE_BODY]

    def _answer_ends(self) -> None:
        if self._picked is not None and self._picked.pick is not None and self._head is not None:
            self._picked.pick.answer_ends(self._head.form)

    def _hold(self, piece: bytes) -> None:
        self._body.append(piece)
        self._body_bytes += len(piece)
        self._picker.body_bytes += len(piece)
        longest = self._picker.rules().settings.body_bytes_max
        error: HeterodyneError | None = None
        if self._body_bytes > longest:
            error = BodyTooLarge(f"The body is longer than {longest} bytes (endpoint_picker.body_bytes_max).")
        elif self._picker.body_bytes > self._bodies_bytes_max:
            error = Overloaded(
                "All bodies that are being received are larger than `gateway.bodies_bytes_max` together."
            )
        if error is not None:
            self._picker.refused(error, self._head, size=self._body_bytes)
            raise error

    def _let_go(self) -> None:
        """Of the body, as far as it has come."""
        self._picker.body_bytes -= self._body_bytes
        self._body, self._body_bytes = [], 0


def _named(mode: int) -> str:
    """As the proxy's settings call it."""
    return BodySendMode(mode).name if mode in set(BodySendMode) else str(mode)
