"""The time limits of one client connection, with the clock in hand."""

import asyncio

from heterodyne.domain.errors import HeterodyneError
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

LIMITS = WireLimits(head_timeout_s=10, body_timeout_s=20, idle_timeout_s=30, linger_timeout_s=2)
HEAD = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n"


class Client:
    """A connection, its ledger, and a handler that answers when told to."""

    def __init__(self, ledger: ServerLedger | None = None) -> None:
        self.now_s = 0.0
        self.refused: list[int] = []
        self.asked: list[HttpRequest] = []
        self.is_gone = False
        self.ledger = ServerLedger() if ledger is None else ledger
        self.connection = ServerConnection(self, LIMITS, self.ledger, clock=lambda: self.now_s)
        self.transport = MemoryTransport(self.connection)

    def check_head(self, _: HttpRequest, __: object) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: HttpRequest, connection: ServerConnection) -> "Client":
        self.asked.append(request)
        return self

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None:
        self.refused.append(error.status)
        connection.finish(b"refused")

    def client_gone(self) -> None:
        self.is_gone = True

    def client_slow(self) -> None: ...
    def client_ready(self) -> None: ...

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.connection.check(self.now_s)


def test_a_head_has_its_time() -> None:
    client = Client()
    client.transport.feed(HEAD[:10])
    client.wait(10)
    assert client.refused == []
    client.wait(0.1)
    assert client.refused == [408]
    assert client.transport.has_written_eof


def test_a_body_has_its_own() -> None:
    client = Client()
    client.transport.feed(HEAD[:10])
    client.wait(9)
    client.transport.feed(HEAD[10:] + b"123")
    client.wait(20)
    assert client.refused == []
    assert client.ledger.body_bytes == 3
    client.wait(0.1)
    assert client.refused == [408]
    assert client.ledger.body_bytes == 0


def test_an_answer_may_take_as_long_as_it_likes() -> None:
    client = Client()
    client.transport.feed(HEAD + b"12345")
    client.wait(10_000)
    assert client.refused == []
    assert client.connection.is_busy
    client.connection.finish(b"answer")
    client.wait(29)
    assert not client.transport.is_closing()
    client.wait(2)
    assert client.transport.is_closing(), "then it is idle, for a while"


def test_after_the_last_answer_input_is_read_past_for_a_moment() -> None:
    client = Client()
    client.transport.feed(b"nonsense\r\n\r\n")
    assert client.refused == [405]
    client.transport.feed(b"more of it")
    client.wait(1)
    assert not client.transport.was_aborted
    client.wait(1.1)
    assert client.transport.was_aborted
    assert client.refused == [405]


def test_a_draining_server_closes_what_is_idle_and_ends_what_is_not() -> None:
    idle, busy = Client(), Client()
    busy.transport.feed(HEAD + b"12345")
    for client in (idle, busy):
        client.ledger.is_draining = True
        client.wait(0.1)
    assert idle.transport.is_closing()
    assert not busy.transport.is_closing()
    busy.connection.finish(b"answer")
    busy.wait(0.1)
    assert busy.transport.is_closing()


def test_a_client_that_goes_is_reported_to_whoever_answers() -> None:
    client = Client()
    client.transport.feed((HEAD + b"12345") * 3)
    assert len(client.asked) == 1
    assert client.ledger.body_bytes == 15
    client.transport.lose()
    assert client.is_gone
    assert (client.ledger.body_bytes, client.ledger.connections) == (0, {})


def test_a_queue_of_requests_stops_the_reading_and_starts_it_again() -> None:
    client = Client()
    client.transport.feed((HEAD + b"12345") * (LIMITS.pipeline_max + 1))
    assert not client.transport.is_reading()
    client.connection.finish(b"answer")
    assert client.transport.is_reading()
    assert len(client.asked) == 2


def test_nothing_is_served_while_the_last_answer_is_stuck() -> None:
    client = Client()
    client.transport.feed(HEAD + b"12345")
    client.connection.pause_writing()
    client.connection.finish(b"answer")
    client.transport.feed(HEAD + b"12345")
    assert len(client.asked) == 1
    client.connection.resume_writing()
    assert len(client.asked) == 2


class AtOnce(Client):
    """Answers every request as it comes."""

    def handle(self, request: HttpRequest, connection: ServerConnection) -> None:  # type: ignore[override]  # no turn
        self.asked.append(request)
        connection.finish(b"answer")


async def test_others_have_their_turn_while_much_is_read_at_once() -> None:
    client = AtOnce()
    requests = 2000
    client.transport.feed((HEAD + b"12345") * requests)
    assert len(client.asked) <= LIMITS.pipeline_max
    assert not client.transport.is_reading()
    turns = 0
    while len(client.asked) < requests:
        await asyncio.sleep(0)
        turns += 1
    assert turns >= requests / LIMITS.pipeline_max - 1
    await asyncio.sleep(0)
    assert client.transport.is_reading()
    assert client.ledger.body_bytes == 0


async def test_a_large_body_of_known_length_is_read_at_once() -> None:
    client = Client()
    body = b"x" * 200_000
    client.transport.feed(HEAD.replace(b": 5", b": %d" % len(body)) + body)
    assert client.asked[0].body == body


def test_an_old_connection_that_nobody_waits_on_gives_way() -> None:
    ledger = ServerLedger()
    clients = [Client(ledger) for _ in range(5)]
    clients[0].transport.feed(HEAD + b"12345")
    clients[1].transport.feed(HEAD + b"123")
    assert ledger.try_make_room()
    assert [client.transport.was_aborted for client in clients] == [False, False, True, False, False]
    assert ledger.try_make_room()
    assert ledger.try_make_room()
    assert not ledger.try_make_room(), "an answer and a body are under way"
    assert list(ledger.connections) == [clients[0].connection, clients[1].connection]
