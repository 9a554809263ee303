"""One attempt, over real connections in memory: what it sends, and the one end it comes to."""

import pytest

from heterodyne.domain.errors import EngineBroke, EngineGarbage, EngineUnavailable
from heterodyne.domain.fleet import ReplicaId
from heterodyne.gateway.attempt import Attempt
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.health.outcome import Outcome
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.message import chunk
from tests.support.attempt_owners import RecordingOwner
from tests.support.memory_network import MemoryClient
from tests.support.request_paths import CALL, NOW_S, STREAM_END, STREAM_HEAD, RequestPath, replicas, token, whole

A = ReplicaId("a")
SENT = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: h:1\r\ncontent-type: application/json\r\n"
    b"x-request-id: req_1\r\ncontent-length: 13\r\n\r\n%b" % CALL.body
)


def started(path: RequestPath, owner: RecordingOwner) -> Attempt:
    """One whose replica has been sent the request."""
    attempt = path.attempt(owner)
    attempt.start()
    path.network.turn()
    return attempt


def keep_connection(path: RequestPath) -> MemoryTransport:
    """A connection that has served one request and waits for the next."""
    first = started(path, RecordingOwner())
    path.engine().feed(whole(b"{}"))
    first.end(Outcome.SUCCESS)
    return path.engine()


def test_the_replica_is_sent_the_call_once_there_is_a_connection() -> None:
    path = RequestPath(*replicas("a", "b"))
    attempt = path.attempt(RecordingOwner())
    attempt.start()
    assert (attempt.sent_at_s, path.network.connections) == (0.0, {})
    path.clock.pass_s(0.25)
    path.network.turn()
    assert path.engine().written == SENT
    assert (attempt.asked_at_s, attempt.sent_at_s) == (NOW_S, NOW_S + 0.25)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_whatever_it_ends_as_it_has_one_outcome(outcome: Outcome) -> None:
    path = RequestPath(*replicas("a", "b"))
    attempt = started(path, RecordingOwner())
    assert attempt.end(outcome).outcome is outcome
    for again in Outcome:
        attempt.end(again)
    assert path.outcomes() == [outcome]


def test_what_it_occupies_is_vacated_once() -> None:
    path = RequestPath(*replicas("a", "b"))
    first, second = path.attempt(RecordingOwner()), path.attempt(RecordingOwner())
    limit, health = path.upstream.limit, path.health.of(A)
    assert (limit.by_replica, health.in_flight) == ({"a": 2}, 2)
    for _ in range(2):
        first.end(Outcome.CANCELLED)
        assert (limit.by_replica, health.in_flight) == ({"a": 1}, 1)
    second.end(Outcome.CANCELLED)
    assert (limit.by_replica, health.in_flight) == ({}, 0)
    assert [state.in_flight for state in path.upstream.router.snapshot()[0]] == [0, 0]


def test_its_end_cuts_the_connection_that_still_works_on_it() -> None:
    path = RequestPath(*replicas("a"))
    attempt = started(path, RecordingOwner())
    attempt.end(Outcome.CANCELLED)
    assert path.engine().was_aborted


def test_a_connection_that_comes_after_the_end_is_released_unused() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    attempt = path.attempt(owner)
    attempt.start()
    attempt.end(Outcome.CANCELLED)
    path.network.turn()
    assert path.engine().written == b""
    assert path.upstream.pool.snapshot() == {attempt.wire.address: (1, 1)}, "open and idle"


def test_a_connection_that_fails_after_the_end_is_no_failure() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    path.network.refusing.add(1)
    attempt = path.attempt(owner)
    attempt.start()
    attempt.end(Outcome.CANCELLED)
    path.network.turn()
    assert (owner.events, path.outcomes()) == ([], [Outcome.CANCELLED])


def test_a_refused_connection_fails_it_unsent() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    path.network.refusing.add(1)
    attempt = started(path, owner)
    assert (owner.events, attempt.sent_at_s) == (["failed"], 0.0)
    assert isinstance(owner.error, EngineUnavailable)


def test_a_kept_connection_that_is_closed_under_it_is_retried_fresh_once() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    kept = keep_connection(path)
    attempt = path.attempt(owner)
    attempt.start()
    assert kept.written == SENT * 2, "at once, without a turn of the loop"
    kept.lose()
    assert (owner.events, attempt.sent_at_s) == ([], 0.0)
    path.network.turn()
    fresh = path.engine()
    assert (fresh is kept, fresh.written) == (False, SENT)
    fresh.lose()
    path.network.turn()
    assert (owner.events, len(path.network.connections[1])) == (["failed"], 2)
    assert isinstance(owner.error, EngineBroke)


def test_a_kept_connection_that_had_begun_to_answer_is_not_retried() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    kept = keep_connection(path)
    path.attempt(owner).start()
    kept.feed(b"HTTP/1.1 200")
    kept.lose()
    path.network.turn()
    assert (owner.events, len(path.network.connections[1])) == (["failed"], 1)


def test_an_answer_longer_than_it_may_be_fails_it() -> None:
    path, owner = RequestPath(*replicas("a"), answer_bytes_max=10), RecordingOwner()
    started(path, owner)
    path.engine().feed(whole(b"0123456789x"))
    assert owner.events == ["failed"]
    assert isinstance(owner.error, EngineGarbage)
    assert path.engine().was_aborted


def test_a_whole_answer_is_handed_on_without_its_framing() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    attempt = started(path, owner)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    path.engine().feed(head, chunk(b'{"a":') + chunk(b"1"), chunk(b"}"), b"0\r\n\r\n")
    assert (owner.events, b"".join(owner.pieces), attempt.status) == (["answered"], b'{"a":1}', 200)
    assert path.upstream.pool.snapshot() == {attempt.wire.address: (1, 1)}, "its connection serves the next"


def test_a_stream_goes_to_the_relay_that_its_owner_has_for_it() -> None:
    path = RequestPath(*replicas("a"))
    client = MemoryClient(path.clock)
    owner = RecordingOwner(client)
    started(path, owner)
    path.engine().feed(STREAM_HEAD, token("hi"), STREAM_END)
    assert owner.events == ["streams", "begins", "completed"]
    assert client.written == token("hi") + STREAM_END.removesuffix(b"0\r\n\r\n")


def test_an_owner_without_a_relay_gets_a_stream_whole() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    started(path, owner)
    path.engine().feed(STREAM_HEAD, chunk(b"data: 1\n\n"), b"0\r\n\r\n")
    assert (owner.events, owner.pieces) == (["streams", "answered"], [b"data: 1\n\n"])


def test_an_engines_advice_on_when_to_come_back_is_kept() -> None:
    path = RequestPath(*replicas("a"))
    attempt = started(path, RecordingOwner())
    path.engine().feed(whole(b"{}", 503, "retry-after: 7"))
    assert (attempt.status, attempt.retry_after) == (503, b"7")


def test_what_is_asked_next_goes_over_the_connection_that_has_answered() -> None:
    path, owner = RequestPath(*replicas("a")), RecordingOwner()
    attempt = started(path, owner)
    path.engine().feed(whole(b"one"))
    attempt.again(EngineRequest("/next", b"{}"))
    assert path.engine().written.startswith(SENT + b"POST /next HTTP/1.1\r\n")
    path.engine().feed(whole(b"two"))
    assert (owner.events, owner.pieces) == (["answered", "answered"], [b"two"])


def test_a_pause_reaches_the_connection_even_if_that_comes_later() -> None:
    path = RequestPath(*replicas("a"))
    attempt = path.attempt(RecordingOwner())
    attempt.start()
    attempt.pause()
    path.network.turn()
    assert not path.engine().is_reading()
    path.clock.pass_s(30.0)
    attempt.resume()
    assert path.engine().is_reading()
    assert attempt.silent_since_s() == NOW_S + 30.0, "the replica was not allowed to speak before"
