"""One exchange between a client and its replicas: whatever comes, and however often, it has exactly one end."""

from collections.abc import Callable

import msgspec
import pytest

from heterodyne.domain.errors import DeadlineExceeded, Draining, EngineBroke, InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.record import RequestRecord
from heterodyne.gateway.continuation import KEPT_BYTES_MAX
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.testing.behaviours import chat_answer
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.message import chunk
from tests.support.attempt_owners import AdapterClaims
from tests.support.memory_network import MemoryClient
from tests.support.request_paths import (
    NOW_S,
    STREAM_END,
    STREAM_HEAD,
    MistakenDialect,
    RequestPath,
    chat,
    replicas,
    token,
    whole,
)

ANSWER = msgspec.json.encode(chat_answer())
SETTINGS = GatewaySettings()


class Exchanging:
    """A started exchange, whose first replica is `a`; the owner of exchanges hears of it here."""

    def __init__(
        self, *names: str, settings: GatewaySettings = SETTINGS, path: RequestPath | None = None, **facts: object
    ) -> None:
        self.path = path or RequestPath(*replicas(*(names or ("a",))))
        self.client = MemoryClient(self.path.clock)
        self.owned: list[str] = []
        self.exchange = self.path.exchange(self, self.client, chat(**facts), settings)
        self.exchange.start(self.path.choice("a"))
        self.path.network.turn()

    def exchange_started(self, exchange: Exchange) -> None:
        self.owned.append("started")

    def exchange_ended(self, exchange: Exchange, model: str) -> None:
        self.owned.append(f"{model} ended")

    def engine(self, name: str = "a") -> MemoryTransport:
        self.path.network.turn()
        return self.path.engine(name)

    @property
    def body(self) -> bytes:
        """What the client has got, behind the head."""
        return self.client.written.partition(b"\r\n\r\n")[2]

    @property
    def status(self) -> int:
        return int(self.client.written[9:12] or 0)

    def record(self) -> RequestRecord:
        """What was written down, once; nothing is held any more."""
        self.path.request_log.write_down()
        assert self.owned == ["started", "m ended"]
        assert (self.path.upstream.limit.by_replica, self.path.health.in_flight) == ({}, 0)
        [record] = self.path.records.written
        return record


def test_a_whole_answer_goes_to_the_client_and_is_written_down() -> None:
    one = Exchanging(stream=False)
    one.engine().feed(whole(ANSWER))
    record = one.record()
    assert (one.status, one.body) == (200, ANSWER)
    assert (record.status, record.reason, record.completion_tokens) == (200, "", 3)


def test_a_stream_goes_to_the_client_as_it_came() -> None:
    one = Exchanging()
    one.engine().feed(STREAM_HEAD, token("one"), token(" two"))
    assert one.owned == ["started"]
    one.engine().feed(STREAM_END)
    assert one.body == token("one") + token(" two") + STREAM_END
    assert one.record().status == 200


ENDS: dict[str, Callable[[Exchanging], object]] = {
    "the client goes": lambda one: one.exchange.client_gone(),
    "it is given up": lambda one: one.exchange.give_up(Draining("over")),
    "its deadline passes": lambda one: one.exchange.check(NOW_S + 601.0),
    "its engine breaks off": lambda one: one.engine().lose(),
    "its engine is done": lambda one: one.engine().feed(STREAM_END),
}


@pytest.mark.parametrize("has_begun", [False, True], ids=["before its answer", "in its answer"])
@pytest.mark.parametrize("first", ENDS)
def test_whatever_comes_after_the_end_there_is_one(first: str, has_begun: bool) -> None:
    one = Exchanging(settings=GatewaySettings(continues_streams=False))
    engine = one.engine()
    engine.feed(STREAM_HEAD, *[token()] * has_begun)
    ENDS[first](one)
    written, status = one.client.written, one.record().status
    for end in ENDS.values():
        end(one)
    assert (one.client.written, one.record().status) == (written, status)


def test_a_client_that_leaves_stops_its_engine() -> None:
    one = Exchanging()
    one.engine().feed(STREAM_HEAD, token())
    one.client.transport.lose()
    assert one.engine().was_aborted
    assert (one.record().status, one.record().reason) == (499, "client_gone")


def test_a_client_that_leaves_with_the_whole_answer_was_answered() -> None:
    one = Exchanging()
    one.engine().feed(STREAM_HEAD, token(), STREAM_END.removesuffix(b"0\r\n\r\n"))
    one.client.transport.lose()
    assert (one.record().status, one.record().reason) == (200, "")


def test_a_slow_client_slows_its_engine() -> None:
    one = Exchanging()
    one.client.connection.pause_writing()
    assert not one.engine().is_reading()
    one.client.connection.resume_writing()
    assert one.engine().is_reading()


def test_the_deadline_is_answered_504_and_not_before_it_has_passed() -> None:
    one = Exchanging(deadline_s=NOW_S + 2.0)
    one.exchange.check(NOW_S + 2.0)
    assert one.client.written == b""
    one.exchange.check(NOW_S + 2.1)
    assert (one.status, one.record().reason) == (504, DeadlineExceeded.code)
    assert one.engine().was_aborted


def test_a_failure_before_the_answer_is_made_good_elsewhere() -> None:
    one = Exchanging("a", "b", stream=False)
    one.engine("a").lose()
    one.engine("b").feed(whole(ANSWER))
    assert (one.status, one.record().retries, one.record().replica) == (200, 1, "b")


def test_a_failure_that_nobody_can_make_good_is_answered_with_the_engines_advice() -> None:
    one = Exchanging(stream=False)
    one.engine().feed(whole(b"{}", 503, "retry-after: 7"))
    assert (one.status, b"retry-after: 7\r\n" in one.client.written) == (503, True)
    assert one.record().status == 503


def test_an_error_of_the_callers_is_not_retried() -> None:
    one = Exchanging("a", "b", stream=False)
    one.engine("a").feed(whole(b'{"error":{"message":"temperature too high"}}', 400))
    assert (one.status, b"temperature too high" in one.body) == (400, True)
    assert (one.record().retries, one.path.outcomes("a")) == (0, ["caller_error"])


def test_an_answer_that_is_an_error_under_the_status_200_is_retried() -> None:
    one = Exchanging("a", "b", stream=False)
    one.engine("a").feed(whole(b'{"error":{"message":"no"}}'))
    one.engine("b").feed(whole(ANSWER))
    assert (one.status, one.record().retries) == (200, 1)


def test_a_stream_that_breaks_off_goes_on_elsewhere_as_one_answer() -> None:
    one = Exchanging("a", "b")
    one.engine("a").feed(STREAM_HEAD, token("one"))
    one.engine("a").lose()
    one.engine("b").feed(STREAM_HEAD, token(" two").replace(b'"c-1"', b'"c-2"'), STREAM_END)
    assert one.body == token("one") + token(" two") + STREAM_END, "under the first one's id"
    assert (one.record().continuations, one.record().status) == (1, 200)


def test_a_stream_that_had_finished_is_ended_for_its_engine() -> None:
    one = Exchanging("a", "b")
    one.engine("a").feed(STREAM_HEAD, token("one"), token("", finish_reason="stop"))
    one.engine("a").lose()
    assert one.body.endswith(STREAM_END)
    assert (one.record().continuations, one.record().status) == (0, 200)


def test_a_stream_that_cannot_go_on_ends_with_an_error_event() -> None:
    one = Exchanging()
    one.engine().feed(STREAM_HEAD, token("one"))
    one.engine().lose()
    assert b'"code":"engine_broke"' in one.body.removeprefix(token("one"))
    assert (one.body.endswith(b"0\r\n\r\n"), b"[DONE]" in one.body) == (True, False)
    assert one.record().reason == EngineBroke.code


def test_an_engine_that_gives_up_in_the_middle_is_quoted() -> None:
    one, gave_up = Exchanging(), b'data: {"error":{"message":"out of memory"}}\n\n'
    one.engine().feed(STREAM_HEAD, token("one"), chunk(gave_up))
    assert one.body == token("one") + chunk(gave_up) + b"0\r\n\r\n"
    assert (one.record().status, one.record().reason) == (200, "engine_error_event")


def test_too_long_an_answer_is_no_longer_remembered() -> None:
    one = Exchanging("a", "b")
    one.engine("a").feed(STREAM_HEAD, *[token("x" * (KEPT_BYTES_MAX // 16))] * 16)
    assert one.exchange.kept_bytes > KEPT_BYTES_MAX
    one.exchange.check(NOW_S)
    assert one.exchange.kept_bytes == 0
    one.engine("a").lose()
    assert one.record().reason == EngineBroke.code


class MistakenAdapters(AdapterClaims):
    """With a mistake of ours."""

    def use(self, replica: Replica, name: str) -> AdapterClaims:
        raise ZeroDivisionError


def test_a_mistake_of_ours_in_an_answer_is_answered_500() -> None:
    one = Exchanging(path=RequestPath(*replicas("a", "b"), dialects={"vllm": MistakenDialect()}), stream=False)
    one.engine().feed(whole(ANSWER))
    assert (one.status, one.record().reason, one.record().retries) == (500, "internal_error", 0)


def test_a_mistake_of_ours_at_the_start_is_answered_500() -> None:
    path = RequestPath(*replicas("a", adapters={"lora": None}), adapters=MistakenAdapters())
    one = Exchanging(path=path, model="lora")
    assert (one.status, one.record().reason) == (500, "internal_error")


def test_what_an_engine_cannot_be_asked_is_raised_before_anything_is_held() -> None:
    path = RequestPath(*replicas("a", engine="tgi"))
    with pytest.raises(InvalidField):
        Exchanging(path=path, choices=2)
    assert (path.upstream.limit.by_replica, path.health.in_flight) == ({}, 0)
