"""One request's answer as its client gets it: whole, as a stream, or as an error in the form that is still possible."""

from collections.abc import Callable
from functools import partial
from typing import Final

from heterodyne.admission.hold import Hold
from heterodyne.books.flight_slots import FlightSlot
from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.request import Request, Usage
from heterodyne.gateway import render, usage
from heterodyne.gateway.attempt import Attempt
from heterodyne.gateway.continuation import Continuation
from heterodyne.gateway.forms.form import ClientForm, KeptStream, StreamForm
from heterodyne.gateway.forms.kept import KeptAnswer
from heterodyne.gateway.guards.held_relay import HeldRelay, is_text
from heterodyne.gateway.guards.held_stream import HeldStream
from heterodyne.gateway.guards.stream import StreamLook, guarded_edit, watched_edit
from heterodyne.gateway.guards.whole import is_guarded
from heterodyne.gateway.offload.answering import ANSWER_BYTES_LARGE, TranslatedAnswer
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.passed_relay import PassedRelay
from heterodyne.gateway.race import Race
from heterodyne.gateway.relay import StreamRelay
from heterodyne.gateway.stored.keeper import Keeper, WhenKept
from heterodyne.gateway.stream_owner import StreamOwner
from heterodyne.gateway.stream_turns import StreamTurns
from heterodyne.gateway.told_relay import ToldRelay
from heterodyne.ports.engine import EventEdit
from heterodyne.wire.server_connection import ServerConnection

EVENT_STREAM: Final = b"text/event-stream"


class ClientAnswer:
    """Writes to the client's connection. One per exchange."""

    __slots__ = (
        "_form",
        "_identity",
        "_keeper",
        "_kept",
        "_kept_stream",
        "_passed_type",
        "_request",
        "client",
        "first_byte_at_s",
        "hold",
        "stream_form",
        "stream_guard",
    )

    def __init__(
        self,
        client: ServerConnection,
        request: Request,
        hold: Hold,
        identity: render.IdentityHeaders,
        form: ClientForm,
        *,
        keeper: Keeper,
    ) -> None:
        self.client = client
        self._request = request
        self.hold = hold
        self._identity = identity
        self._form = form
        self._keeper = keeper
        self._kept: KeptAnswer | None = None  # of a whole answer that is to be kept
        self._kept_stream: KeptStream | None = None  # the stream form, where its answer is to be kept
        self._passed_type = b""  # the media type of an answer that passes as it comes
        self.stream_form: StreamForm | None = None  # None: events pass as they are
        if request.stream:
            if request.is_stored and form.kept_stream is not None:
                self.stream_form = self._kept_stream = form.kept_stream(request)
            elif form.stream is not None:
                self.stream_form = form.stream(request)
        self.stream_guard: StreamGuard | None = None  # what policies do with the stream; None: nothing
        self.first_byte_at_s = 0.0  # 0: nothing was sent yet

    @property
    def is_streaming(self) -> bool:
        """Whether the client has the beginning of a stream, so that its status can no longer be changed."""
        return bool(self.first_byte_at_s) and self._request.stream

    def headers(self, race: Race | None) -> bytes:
        """Who answers what, why, and what is left of the caller's limits; without a race the answer was kept."""
        identity = self._identity
        headers = identity.of(self._request.id)
        if self._request.cache is not None:
            headers += self._request.cache.header
        if self._request.cascade:
            headers += b"x-heterodyne-cascade: %b\r\n" % self._request.cascade.encode()
        if race is None or race.wire is None or race.choice is None:
            return headers
        headers += race.wire.answer_headers(race.choice, asked_model=race.routing_request.model)
        winner, lost = race.winner, self._request.not_carried
        if winner is not None and winner.not_carried:
            lost = (*lost, *winner.not_carried)
        if lost:
            headers += b"x-heterodyne-not-carried: %b\r\n" % ", ".join(lost).encode()
        hold = self.hold
        return headers + hold.headers(identity.wall_clock) if hold.is_counted or hold.queued_s else headers

    def relay(self, attempt: Attempt, race: Race, continuation: Continuation, event_bytes_max: int) -> StreamRelay:
        """What takes the stream of an attempt to the client: as it comes, or event by event in the words of its API."""
        request, clock = self._request, race.upstream.clock
        if request.passes:
            media_type, bytes_max = attempt.media_type, race.upstream.answer_bytes_max
            if request.guard is not None and is_guarded(request) and is_text(media_type):
                return HeldRelay(
                    self.client,
                    attempt,
                    clock,
                    request=request,
                    media_type=media_type,
                    offload=race.upstream.offload,
                    salt=race.salt,
                    bytes_max=bytes_max,
                )
            return PassedRelay(self.client, attempt, clock, wants_usage=False)
        edit, tokens_before, sent = attempt.wire.dialect.stream_edit(request), 0, ""
        if continuation.partial is not None:
            edit, tokens_before = continuation.edit(edit), continuation.tokens_before
            sent = continuation.partial.delivered_text.text
        elif request.cache is not None:
            edit = request.cache.watch(edit)
        if request.guard is not None and request.guard.holds_answers and is_guarded(request):
            return HeldStream(
                self.client,
                attempt,
                clock,
                request=request,
                edit=edit,
                offload=race.upstream.offload,
                salt=race.salt,
                comes=partial(race.win, attempt),
                tell=partial(self._judged_relay, attempt, race, continuation),
                bytes_max=race.upstream.answer_bytes_max,
                event_bytes_max=event_bytes_max,
            )
        return self.relay_of(
            attempt,
            clock,
            edit,
            offload=race.upstream.offload,
            salt=race.salt,
            keep=continuation.kept,
            sent=continuation.sent,
            slot=race.slot,
            before=tokens_before,
            said=sent,
            event_bytes_max=event_bytes_max,
        )

    def _judged_relay(self, attempt: Attempt, race: Race, continuation: Continuation, bytes_max: int) -> StreamRelay:
        """What takes a stream to the client that was held back until guards elsewhere had judged all of it."""
        attempt.relay = relay = self.relay_of(
            attempt,
            race.upstream.clock,
            None,
            offload=race.upstream.offload,
            salt=race.salt,
            keep=continuation.kept,
            sent=continuation.sent,
            slot=race.slot,
            is_judged=True,
            event_bytes_max=bytes_max,
        )
        return relay

    def relay_of(
        self,
        owner: StreamOwner,
        clock: Callable[[], float],
        edit: EventEdit | None,
        *,
        offload: Offload,
        salt: bytes,
        keep: list[bytes] | None,
        sent: list[bytes] | None,
        slot: FlightSlot | None = None,
        before: int = 0,
        said: str = "",
        is_judged: bool = False,
        event_bytes_max: int,
    ) -> StreamRelay:
        """The same of any OpenAI events: past policies, who know what was `said` before, and in the client's words.

        `is_judged`: no policy has to see them any more.
        """
        request, guard, turns = self._request, None, None
        if request.guard is not None and not is_judged and is_guarded(request):
            if request.guard.flags_answers:
                edit = watched_edit(edit, request, said)
            if request.guard.edits_answers:
                guard = self.stream_guard = request.guard.stream_guard(request.choices * request.prompts, said)
                turns = StreamTurns(StreamLook(guard, request, offload, salt))
                edit = guarded_edit(edit, turns)
        if self.stream_form is None:
            return StreamRelay(
                self.client,
                owner,
                clock,
                wants_usage=request.wants_usage,
                edit=edit,
                guard=guard,
                turns=turns,
                keep=keep,
                slot=slot,
                before=before,
                event_bytes_max=event_bytes_max,
            )
        return ToldRelay(
            self.client,
            owner,
            clock,
            form=self.stream_form,
            wants_usage=request.wants_usage,
            edit=edit,
            guard=guard,
            turns=turns,
            keep=keep,
            sent=sent,
            slot=slot,
            before=before,
            event_bytes_max=event_bytes_max,
        )

    def begin_stream(self, race: Race | None, now_s: float) -> None:
        """The head of a stream, before its first event; a stream that goes on elsewhere has had it."""
        if self.first_byte_at_s:
            return
        self.first_byte_at_s = now_s
        client, headers, media_line = self.client, self.headers(race), render.EVENTS
        if self._request.passes:
            self._passed_type = b"" if race is None or race.winner is None else race.winner.media_type
            media_line = render.media_line(self._passed_type)
        client.write(
            render.stream_head(media_line + headers, chunked=client.speaks_chunked, keeps_alive=client.keeps_alive)
        )

    def formed(self, answer: TranslatedAnswer) -> TranslatedAnswer:
        """The same in the words of the client's API; raises EngineGarbage where it cannot be told in them."""
        request, form = self._request, self._form
        if request.is_stored and form.kept_whole is not None:
            self._kept = form.kept_whole(request, b"".join(answer.pieces))
            return TranslatedAnswer([self._kept.response(is_kept=True)], answer.usage, is_error=False)
        if form.whole is None:
            return answer
        return TranslatedAnswer([form.whole(request, b"".join(answer.pieces))], answer.usage, is_error=False)

    def keep(self, then: WhenKept) -> None:
        """Keep what is to be kept before the client hears of the end, for it may go on from there at once, elsewhere.

        `then` hears whether nothing is missing that should have been kept.
        """
        kept = self._kept if self._kept_stream is None else self._kept_stream.kept()
        if kept is None:
            then(True)
        else:
            self._keeper.keep(kept, self.hold.caller, then)

    def unkept(self, answer: TranslatedAnswer) -> TranslatedAnswer:
        """The whole answer, which says of itself that nobody kept it."""
        assert self._kept is not None
        return TranslatedAnswer([self._kept.response(is_kept=False)], answer.usage, is_error=False)

    def last_events(self, *, is_kept: bool) -> bytes:
        """Those that end a stream which is kept."""
        return b"" if self._kept_stream is None else self._kept_stream.last(is_kept=is_kept)

    def whole(self, answer: TranslatedAnswer, headers: bytes) -> None:
        """All of it at once."""
        client = self.client
        if len(answer.pieces) == 1 and answer.size <= ANSWER_BYTES_LARGE:
            client.finish(render.whole(200, headers, answer.pieces[0], keeps_alive=client.keeps_alive))
            return
        head = render.whole_head(200, headers, answer.size, keeps_alive=client.keeps_alive)
        client.finish_paced(head, answer.pieces)

    def end_for_engine(self, id_: str, created: int, reported: Usage) -> None:
        """The end of a stream that its engine did not live, or was not let, to say."""
        events = [b"data: [DONE]\n\n"]
        if self._request.wants_usage:
            events.insert(0, usage.event(self._request, reported, id_=id_, created=created))
        form = self.stream_form
        for event in events:
            told = event if form is None else form.events(event[:-2])
            if told:
                self.client.write_payload(told)

    def error(self, error: HeterodyneError, engine_event: bytes, race: Race | None) -> None:
        """The error; `engine_event` is the engine's own last event where it gave up in the middle."""
        client = self.client
        if self.is_streaming and self._request.passes and not self._passed_type.startswith(EVENT_STREAM):
            client.abort()  # there are no words for it between two sounds, and a part must not look like all
            return
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
