"""One request being answered: its sequences' tokens become events or one whole answer."""

from collections.abc import Callable

from msgspec import Struct

from heterodyne.emulator.answer_format import DONE, AnswerFormat, EmulatorUsage
from heterodyne.emulator.faults import Garble
from heterodyne.emulator.observations import Life
from heterodyne.physics.replica.job import Job
from heterodyne.wire.message import status_line
from heterodyne.wire.server_connection import ServerConnection

EVENTS = b"content-type: text/event-stream; charset=utf-8\r\n"
JSON = b"content-type: application/json\r\n"
BROKEN_EVENT = b'data: {"id": "chatcmpl-\n\n'
BROKEN_FRAME = b"zz\r\nthis is no chunk\r\n"
ERROR_EVENT = (
    b'data: {"error": {"message": "the engine failed", "type": "server_error", "param": null, "code": 500}}\n\n'
)


class Planned(Struct, frozen=True, kw_only=True):
    """One sequence and the answer it will have written in the end."""

    job: Job
    text: bytes  # of its prompt
    tokens: list[bytes]
    is_cut: bool  # by a limit, not by its own end
    limit_tokens: int = 0
    adapter: str | None = None  # None: the model alone
    salt: str = ""
    slot: int | None = None  # that it was asked to be answered in; None: any


class Breakage(Struct, frozen=True, kw_only=True):
    """How and when this answer goes wrong."""

    kind: Garble
    after_tokens: int


class Generation:
    """The turn of a client connection that waits for tokens."""

    def __init__(
        self,
        planned: list[Planned],
        answer: AnswerFormat,
        connection: ServerConnection,
        *,
        is_stream: bool,
        has_usage: bool,
        arrived_at_s: float,
        breakage: Breakage | None,
        on_cancelled: Callable[["Generation"], None],
        extra_fields: "ExtraFields | None" = None,
    ) -> None:
        self.planned = planned
        self.arrived_at_s = arrived_at_s
        self.cached_tokens = 0
        self.lives: list[Life] = []  # of its sequences, once they are submitted
        self.written = [0] * len(planned)
        self.is_over = False
        self._answer = answer
        self._connection = connection
        self._is_stream = is_stream
        self._has_usage = has_usage
        self._breakage = breakage
        self._on_cancelled = on_cancelled
        self._extra_fields = extra_fields
        self._is_aborted = False
        if is_stream:
            framing = b"transfer-encoding: chunked\r\n" if connection.speaks_chunked else b""
            connection.write(status_line(200) + EVENTS + framing + self._close_line() + b"\r\n")

    def token(self, index: int) -> None:
        """The sequence has one more token."""
        at = self.written[index]
        self.written[index] = at + 1
        if self._breakage is not None and sum(self.written) > self._breakage.after_tokens:
            self._break(self._breakage.kind)
        elif self._is_stream:
            event = self._answer.token(index, self.planned[index].tokens[at])
            if at == 0:
                event = self._answer.opening(index) + event
            self._connection.write_payload(event)

    def finish(self, index: int) -> None:
        """The sequence is complete; with the last one the answer is."""
        if self.is_over:
            return
        is_last = all(done == len(one.tokens) for done, one in zip(self.written, self.planned, strict=True))
        if self._is_stream:
            more = self._more() if is_last and not self._has_usage else {}
            self._connection.write_payload(self._answer.closing(index, self._reason(index), **more))
        if is_last:
            self._end()

    def abort(self) -> None:
        """The engine gives it up: what there is becomes the answer."""
        if self.is_over:
            return
        self._is_aborted = True
        if self._is_stream:
            for index, one in enumerate(self.planned):
                if self.written[index] < len(one.tokens):
                    self._connection.write_payload(self._answer.closing(index, self._reason(index)))
        self._end()

    @property
    def usage(self) -> EmulatorUsage:
        """Tokens so far; prompts count once however many answers they have."""
        prompts = {one.text: one.job.prompt_tokens for one in self.planned}
        return EmulatorUsage(
            prompt_tokens=sum(prompts.values()),
            completion_tokens=sum(self.written),
            cached_tokens=self.cached_tokens,
        )

    def client_gone(self) -> None:
        """The client disconnected: the rest is not generated."""
        self.is_over = True
        self._on_cancelled(self)

    def client_slow(self) -> None:
        """Engines go on regardless; the answer is bounded by its own length."""

    def client_ready(self) -> None:
        """See `client_slow`."""

    def _more(self) -> dict[str, object]:
        """What this engine adds to the end of an answer."""
        return {} if self._extra_fields is None else self._extra_fields(self)

    def _reason(self, index: int) -> str:
        planned = self.planned[index]
        if self._is_aborted and self.written[index] < len(planned.tokens):
            return "abort"
        return "length" if planned.is_cut else "stop"

    def _end(self) -> None:
        self.is_over = True
        if self._is_stream:
            last = self._answer.usage(self.usage, **self._more()) + DONE if self._has_usage else DONE
            self._connection.write_payload(last)
            self._connection.finish_stream()
            return
        texts = [b"".join(one.tokens[:done]) for done, one in zip(self.written, self.planned, strict=True)]
        reasons = [self._reason(index) for index in range(len(texts))]
        body = self._answer.whole(texts, reasons, self.usage, **self._more())
        head = b"%b%b%bcontent-length: %d\r\n\r\n" % (status_line(200), JSON, self._close_line(), len(body))
        self._connection.finish(head + body)

    def _break(self, kind: Garble) -> None:
        """Go wrong as ordered; the engine behind stops working on it."""
        connection = self._connection
        self.is_over = True
        self._on_cancelled(self)
        if kind is Garble.CUT:
            connection.abort()
        elif not self._is_stream:
            body = b'{"id": "chatcmpl-' if kind is not Garble.ERROR else ERROR_EVENT[6:]
            short_by = 100 if kind is Garble.CLOSE else 0
            status = 500 if kind is Garble.ERROR else 200
            head = b"%b%bconnection: close\r\ncontent-length: %d\r\n\r\n" % (
                status_line(status),
                JSON,
                len(body) + short_by,
            )
            connection.write(head + body)
            connection.hang_up()
        elif kind is Garble.EVENT:
            connection.write_payload(BROKEN_EVENT + DONE)
            connection.finish_stream()
        elif kind is Garble.ERROR:
            connection.write_payload(ERROR_EVENT + DONE)
            connection.finish_stream()
        else:
            connection.write(BROKEN_FRAME if kind is Garble.FRAME else b"")
            connection.hang_up()

    def _close_line(self) -> bytes:
        return b"" if self._connection.keeps_alive else b"connection: close\r\n"


ExtraFields = Callable[[Generation], dict[str, object]]  # what an engine adds to the end of its answers
