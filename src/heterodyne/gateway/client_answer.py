"""One request's answer as its client gets it: whole, as a stream, or as an error in the form that is still possible."""

from heterodyne.admission.hold import Hold
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.request import Request, Usage
from heterodyne.gateway import render, usage
from heterodyne.gateway.forms.form import ClientForm, StreamForm
from heterodyne.gateway.offload.answering import ANSWER_BYTES_LARGE, TranslatedAnswer
from heterodyne.gateway.partial_answer import PartialAnswer
from heterodyne.gateway.race import Race
from heterodyne.wire.server_connection import ServerConnection


class ClientAnswer:
    """Writes to the client's connection. One per exchange."""

    __slots__ = ("_form", "_identity", "_request", "client", "first_byte_at_s", "hold", "stream_form")

    def __init__(
        self,
        client: ServerConnection,
        request: Request,
        hold: Hold,
        identity: render.IdentityHeaders,
        form: ClientForm,
    ) -> None:
        self.client = client
        self._request = request
        self.hold = hold
        self._identity = identity
        self._form = form
        # None: events pass as they are.
        self.stream_form: StreamForm | None = form.stream(request) if request.stream and form.stream else None
        self.first_byte_at_s = 0.0  # 0: nothing was sent yet

    @property
    def is_streaming(self) -> bool:
        """Whether the client has the beginning of a stream, so that its status can no longer be changed."""
        return bool(self.first_byte_at_s) and self._request.stream

    def headers(self, race: Race) -> bytes:
        """Who answers what, why, and what is left of the caller's limits."""
        identity = self._identity
        headers = identity.of(self._request.id)
        if race.wire is None or race.choice is None:
            return headers
        headers += race.wire.answer_headers(race.choice, asked_model=race.routing_request.model)
        if self._request.not_carried:
            headers += b"x-heterodyne-not-carried: %b\r\n" % ", ".join(self._request.not_carried).encode()
        hold = self.hold
        return headers + hold.headers(identity.wall_clock) if hold.is_counted or hold.queued_s else headers

    def begin_stream(self, race: Race, now_s: float) -> None:
        """The head of a stream, before its first event; a stream that goes on elsewhere has had it."""
        if self.first_byte_at_s:
            return
        self.first_byte_at_s = now_s
        client, headers = self.client, self.headers(race)
        client.write(render.stream_head(headers, chunked=client.speaks_chunked, keeps_alive=client.keeps_alive))

    def formed(self, answer: TranslatedAnswer) -> TranslatedAnswer:
        """The same in the words of the client's API; raises EngineGarbage where it cannot be told in them."""
        tell = self._form.whole
        if tell is None:
            return answer
        return TranslatedAnswer([tell(self._request, b"".join(answer.pieces))], answer.usage, is_error=False)

    def whole(self, answer: TranslatedAnswer, headers: bytes) -> None:
        """All of it at once."""
        client = self.client
        if len(answer.pieces) == 1 and answer.size <= ANSWER_BYTES_LARGE:
            client.finish(render.whole(200, headers, answer.pieces[0], keeps_alive=client.keeps_alive))
            return
        head = render.whole_head(200, headers, answer.size, keeps_alive=client.keeps_alive)
        client.finish_paced(head, answer.pieces)

    def end_for_engine(self, sent: PartialAnswer, reported: Usage) -> None:
        """The end of a stream that its engine did not live to say."""
        events = [b"data: [DONE]\n\n"]
        if self._request.wants_usage:
            events.insert(0, usage.event(self._request, reported, id_=sent.id, created=sent.created))
        form = self.stream_form
        for event in events:
            told = event if form is None else form.events(event[:-2])
            if told:
                self.client.write_payload(told)

    def error(self, error: HeterodyneError, engine_event: bytes, race: Race) -> None:
        """The error; `engine_event` is the engine's own last event where it gave up in the middle."""
        client = self.client
        if self.is_streaming:
            if self.stream_form is not None:
                event = self.stream_form.error_event(error)
            else:
                event = engine_event + b"\n\n" if engine_event else render.error_event(error)
            client.write_payload(event)
            client.finish_stream()
            return
        body = self._form.error_body(error)
        headers = render.error_headers(error) + self.headers(race)
        client.finish(render.whole(error.status, headers, body, keeps_alive=client.keeps_alive))
