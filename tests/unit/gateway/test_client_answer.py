"""The bytes that a client gets: a stream's head, a whole answer, an error in the form that is still possible."""

import pytest

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.hold import Hold
from heterodyne.domain.errors import EngineBroke, EngineUnavailable, HeterodyneError
from heterodyne.domain.request import Usage
from heterodyne.gateway import render
from heterodyne.gateway.client_answer import ClientAnswer
from heterodyne.gateway.forms.form import ClientForm
from heterodyne.gateway.forms.passing import OPEN_INFERENCE, OPENAI
from heterodyne.gateway.offload.answering import ANSWER_BYTES_LARGE, TranslatedAnswer
from heterodyne.gateway.partial_answer import PartialAnswer
from heterodyne.gateway.race import Race
from heterodyne.ports.engine import DeliveredText
from heterodyne.wire.message import chunk
from tests.support.attempt_owners import RecordingOwner
from tests.support.memory_network import MemoryClient
from tests.support.replica_states import routing_request
from tests.support.request_paths import CALL, NOW_S, RequestPath, chat, replicas

DATE = b"date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
IDENTITY = b"x-request-id: req_1\r\nx-heterodyne-request-id: req_1\r\n" + DATE
WHO = b"x-heterodyne-pool: p\r\nx-heterodyne-replica: a\r\n"
WHY = b"x-heterodyne-decision: only_replica; ttft=120ms; itl=10.2ms\r\n"
ERROR = b'{"error":{"message":"broke","type":"server_error","param":null,"code":"engine_broke"}}'
BROKE = EngineBroke("broke")


class Answering:
    """A client's answer beside a race; `is_asked`: its replica is known."""

    def __init__(
        self,
        *,
        version: bytes = b"1.1",
        is_asked: bool = True,
        form: ClientForm = OPENAI,
        queued_s: float = 0.0,
        **facts: object,
    ) -> None:
        self.path = RequestPath(*replicas("a"))
        self.client = MemoryClient(self.path.clock, version=version)
        self.race: Race = self.path.racing(RecordingOwner(), **facts) if is_asked else self.path.race(chat(**facts))
        hold = Hold(LOCAL, NOW_S)
        hold.queued_s = queued_s
        self.answer: ClientAnswer = self.path.answer(self.client, self.race.request, hold, form)

    def begin(self) -> bytes:
        """What has come before the first event."""
        self.answer.begin_stream(self.race, NOW_S)
        return self.client.written

    def fail(self, error: HeterodyneError, engine_event: bytes = b"") -> bytes:
        """What comes with the error."""
        before = len(self.client.written)
        self.answer.error(error, engine_event, self.race)
        return self.client.written[before:]


def test_a_streams_head_says_who_answers_and_why() -> None:
    head = Answering().begin()
    assert head == b"HTTP/1.1 200 OK\r\n" + render.EVENTS + IDENTITY + WHO + WHY + b"transfer-encoding: chunked\r\n\r\n"


def test_a_stream_that_goes_on_elsewhere_has_one_head() -> None:
    answering = Answering()
    assert not answering.answer.is_streaming
    first = answering.begin()
    assert answering.answer.is_streaming
    assert answering.begin() == first


def test_an_older_client_gets_its_stream_without_chunks_and_until_the_close() -> None:
    head = Answering(version=b"1.0").begin()
    assert b"transfer-encoding" not in head
    assert head.endswith(b"connection: close\r\n\r\n")


def test_a_request_that_has_waited_is_told_how_long() -> None:
    assert b"x-heterodyne-queue-ms: 250\r\n" in Answering(queued_s=0.25).begin()


def test_a_model_that_stands_in_for_another_is_named() -> None:
    path = RequestPath(*replicas("a"), *replicas("b", model="n"))
    race = path.race()
    race.ask(RecordingOwner(), path.choice("b", routing_request().of_model("n")), CALL)
    path.network.turn()
    assert path.answer(MemoryClient(path.clock), chat()).headers(race).endswith(b"x-heterodyne-model: n\r\n")


def test_before_a_replica_was_asked_only_the_request_is_named() -> None:
    answering = Answering(is_asked=False)
    assert answering.answer.headers(answering.race) == IDENTITY


def test_a_whole_answer_goes_out_at_once_and_the_connection_serves_the_next() -> None:
    answering = Answering(stream=False)
    answering.answer.whole(TranslatedAnswer([b'{"a":1}'], None, is_error=False), render.JSON)
    assert answering.client.written == b"HTTP/1.1 200 OK\r\n" + render.JSON + b'content-length: 7\r\n\r\n{"a":1}'
    assert not answering.client.connection.is_busy


@pytest.mark.parametrize("pieces", [[b"x" * (ANSWER_BYTES_LARGE + 1)], [b"x", b"y"]], ids=["large", "in pieces"])
def test_an_answer_that_is_large_or_in_pieces_goes_out_slice_by_slice(pieces: list[bytes]) -> None:
    answering = Answering(stream=False)
    with answering.path.network.running():
        answering.answer.whole(TranslatedAnswer(pieces, None, is_error=False), b"")
    assert answering.client.connection.is_busy
    answering.path.network.turn()
    body = b"".join(pieces)
    assert answering.client.written == b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    assert not answering.client.connection.is_busy


def test_an_error_before_anything_was_sent_has_its_status_and_openais_shape() -> None:
    answering = Answering()
    head = b"HTTP/1.1 502 Bad Gateway\r\n" + render.JSON + IDENTITY + WHO + WHY + b"content-length: 86\r\n\r\n"
    assert answering.fail(BROKE) == head + ERROR


def test_an_error_of_the_open_inference_protocol_is_a_sentence() -> None:
    assert Answering(form=OPEN_INFERENCE, stream=False).fail(BROKE).endswith(b'\r\n\r\n{"error":"broke"}')


def test_an_error_says_when_to_come_back() -> None:
    said = Answering(is_asked=False).fail(EngineUnavailable("full", retry_after_s=7))
    assert said.startswith(b"HTTP/1.1 503 Service Unavailable\r\n" + render.JSON + b"retry-after: 7\r\n")


@pytest.mark.parametrize(
    ("engine_event", "event"),
    [(b"", b"data: " + ERROR + b"\n\n"), (b'data: {"error":"oom"}', b'data: {"error":"oom"}\n\n')],
    ids=["in our words", "in the engine's own"],
)
def test_an_error_in_a_stream_is_its_last_event(engine_event: bytes, event: bytes) -> None:
    answering = Answering()
    answering.begin()
    assert answering.fail(BROKE, engine_event) == chunk(event) + b"0\r\n\r\n"
    assert not answering.client.connection.is_busy


def test_an_older_clients_stream_ends_with_the_error_and_the_close() -> None:
    answering = Answering(version=b"1.0")
    answering.begin()
    assert answering.fail(BROKE) == b"data: " + ERROR + b"\n\n"
    assert answering.client.transport.has_written_eof


@pytest.mark.parametrize("wants_usage", [False, True])
def test_the_end_that_an_engine_did_not_live_to_say_is_said_for_it(wants_usage: bool) -> None:
    answering = Answering(wants_usage=wants_usage)
    sent = PartialAnswer(delivered_text=DeliveredText("hi", 1), events=1, id="c-1", created=5, is_complete=True)
    answering.answer.end_for_engine(sent.id, sent.created, Usage(prompt_tokens=7, completion_tokens=1))
    done = chunk(b"data: [DONE]\n\n")
    assert answering.client.written.endswith(done)
    counted = answering.client.written.removesuffix(done)
    assert (b'"id":"c-1"' in counted, b'"total_tokens":8' in counted) == (wants_usage, wants_usage)
