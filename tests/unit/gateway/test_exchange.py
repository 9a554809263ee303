"""One exchange between a client and its replicas: whatever comes, and however often, it has exactly one end."""

from collections.abc import Callable

import pytest

from heterodyne.domain.errors import DeadlineExceeded, Draining, EngineBroke, EngineStalled
from heterodyne.gateway.continuation import KEPT_BYTES_MAX
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.wire.message import chunk
from tests.support.exchanges import Exchanging
from tests.support.request_paths import (
    NOW_S,
    STREAM_END,
    STREAM_HEAD,
    token,
)


def test_a_stream_goes_to_the_client_as_it_came() -> None:
    one = Exchanging()
    one.engine().feed(STREAM_HEAD, token("one"), token(" two"))
    assert one.owned == ["started"]
    one.engine().feed(STREAM_END)
    assert one.body == token("one") + token(" two") + STREAM_END
    assert (one.record().status, one.path.outcomes()) == (200, ["success"])


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
    one.engine("a").feed(STREAM_HEAD, token())
    one.exchange.check(NOW_S)
    assert one.exchange.kept_bytes == len(token())
    with one.path.network.running():
        one.engine("a").feed(*[token("x" * (KEPT_BYTES_MAX // 16))] * 16)
    assert one.exchange.kept_bytes > KEPT_BYTES_MAX
    one.exchange.check(NOW_S)
    assert one.exchange.kept_bytes == 0
    one.engine("a").lose()
    assert one.record().reason == EngineBroke.code


def test_an_engine_that_falls_silent_is_given_up() -> None:
    one = Exchanging(settings=GatewaySettings(first_byte_timeout_s=5.0))
    one.exchange.check(NOW_S + 5.0)
    assert one.status == 0
    one.exchange.check(NOW_S + 5.1)
    assert (one.status, one.record().reason) == (504, EngineStalled.code)
