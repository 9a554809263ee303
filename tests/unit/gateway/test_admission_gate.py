"""The gate before the exchanges: what starts, what waits for its turn or its leases, and what is refused."""

import pytest

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.controller import AdmissionController
from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.when_unreachable import WhenUnreachable
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.domain.errors import InvalidField, UnknownModel
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.tenant import Caller, Limits
from heterodyne.gateway.admission_gate import AdmissionGate
from heterodyne.gateway.forms.passing import OPENAI
from heterodyne.gateway.lease_client import LeaseClient
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.stores.leases.memory import MemoryLeases
from heterodyne.telemetry import metrics
from heterodyne.wire.responder import Responder
from heterodyne.wire.server_connection import ServerConnection
from tests.support.memory_network import MemoryClient
from tests.support.replica_states import even, routing_request
from tests.support.request_paths import STREAM_END, STREAM_HEAD, WALL_S, MistakenDialect, RequestPath, chat, replicas
from tests.support.tenants import caller

LIMITED, ROOMY = (caller(limits=Limits(requests_per_minute=each)) for each in (2, 1000))


class Door:
    """A gate before one replica that takes one request at a time; leases come when they are lent."""

    def __init__(self, path: RequestPath | None = None, **admission: int) -> None:
        self.path = path or RequestPath(*replicas("a", in_flight_max=1))
        upstream = self.path.upstream
        self.book = LimitBook("worker")
        self.lease_client = LeaseClient(
            self.book,
            MemoryLeases(clock=lambda: WALL_S),
            when_unreachable=WhenUnreachable.CLOSED,
            clock=lambda: WALL_S,
        )
        self.controller = AdmissionController(
            upstream.selector, upstream.router, upstream.limit, self.book, AdmissionSettings(**admission), chance=even
        )
        self.gate = AdmissionGate(
            controller=self.controller,
            lease_client=self.lease_client,
            upstream=upstream,
            request_log=self.path.request_log,
            request_builder=self.path.builder,
            tracer=None,
            identity=self.path.identity,
            keeper=self.path.stored.keeper,
            settings=GatewaySettings(),
        )

    def ask(self, name: str, who: Caller = LOCAL, **facts: object) -> MemoryClient:
        """A client whose request has come."""
        client = MemoryClient(self.path.clock, lambda connection: self.receive(connection, name, who, **facts))
        self.path.network.turn()
        return client

    def receive(self, connection: ServerConnection, name: str, who: Caller = LOCAL, **facts: object) -> Responder:
        request, arrived_s = chat(id=name, **facts), self.path.clock()
        return self.gate.receive(connection, request, routing_request(), who, form=OPENAI, arrived_s=arrived_s)

    def lend(self) -> None:
        """The source of leases answers all that wait for it."""
        running = self.path.network.create_task(self.lease_client.run())
        self.path.network.turn()
        running.cancel()
        self.path.network.turn()

    def answer(self) -> None:
        """The replica answers what it was asked last."""
        self.path.engine().feed(STREAM_HEAD, STREAM_END)
        self.path.network.turn()

    @property
    def sent(self) -> list[str]:
        """The requests that the replica was sent, in their order."""
        sent = b"".join(one.written for one in self.path.network.connections[1])
        return [part.partition(b"\r\n")[0].decode() for part in sent.split(b"x-request-id: ")[1:]]

    def record(self, name: str) -> RequestRecord:
        self.path.request_log.write_down()
        [record] = [one for one in self.path.records.written if one.id == name]
        return record


def status(client: MemoryClient) -> int:
    return int(client.written[9:12] or 0)


def test_a_request_with_room_starts_at_once_and_is_told_of_no_wait() -> None:
    door = Door()
    client = door.ask("one")
    assert (door.sent, len(door.gate.in_flight.exchanges), door.controller.waiting) == (["one"], 1, 0)
    door.answer()
    assert (status(client), b"x-heterodyne-queue-ms" in client.written) == (200, False)


def test_those_that_wait_start_one_by_one_as_others_end() -> None:
    door = Door()
    clients = [door.ask(name) for name in ("one", "two", "three")]
    assert (door.sent, door.controller.waiting) == (["one"], 2)
    door.gate.note_gauges()
    assert metrics.queue_depth.cell(("m", "interactive"))[0] == 2
    door.path.clock.pass_s(0.5)
    door.answer()
    assert (door.sent, door.controller.waiting) == (["one", "two"], 1)
    door.answer()
    door.answer()
    assert [status(client) for client in clients] == [200, 200, 200]
    assert b"x-heterodyne-queue-ms: 500\r\n" in clients[1].written
    assert (door.gate.in_flight.exchanges, door.path.upstream.limit.by_replica) == (set(), {})


def test_a_client_that_is_slow_when_its_turn_comes_slows_its_engine() -> None:
    door = Door()
    door.ask("one")
    slow = door.ask("two")
    slow.connection.pause_writing()
    door.answer()
    assert (door.sent, door.path.engine().is_reading()) == (["one", "two"], False)
    slow.connection.resume_writing()
    assert door.path.engine().is_reading()


def test_one_more_than_may_wait_is_refused_with_an_answer() -> None:
    door = Door(tenant_queue_max=1)
    door.ask("one")
    door.ask("two")
    client = door.ask("three")
    assert (status(client), b'"code":"queue_full"' in client.written) == (503, True)
    assert (door.record("three").status, door.controller.waiting) == (503, 1)


def test_a_refusal_gives_back_what_was_held() -> None:
    door = Door(tenant_queue_max=1)
    clients = [door.ask(name, ROOMY) for name in ("one", "two", "three")]
    door.lend()
    assert [status(client) for client in clients] == [0, 0, 503]
    assert (door.sent, door.controller.waiting, door.book.outstanding) == (["one"], 1, 2)


def test_a_limit_that_is_reached_is_answered_429_with_what_is_left() -> None:
    door = Door(RequestPath(*replicas("a")))
    clients = [door.ask(name, LIMITED) for name in ("one", "two", "three")]
    assert (door.sent, door.controller.waiting) == ([], 3), "for leases"
    door.lend()
    assert (door.sent, [status(client) for client in clients]) == (["one", "two"], [0, 0, 429])
    assert b"x-ratelimit-remaining-requests: 0\r\n" in clients[2].written
    assert (door.record("three").reason, door.book.outstanding) == ("rate_limit_exceeded", 2)


def test_a_request_for_which_leases_are_at_hand_starts_at_once() -> None:
    door = Door(RequestPath(*replicas("a")))
    door.ask("one", ROOMY).transport.lose()
    door.lend()
    client = door.ask("two", ROOMY)
    assert (door.sent, door.controller.waiting) == (["two"], 0), "with the lease that was too late for the first"
    door.path.engine().feed(STREAM_HEAD + STREAM_END.removesuffix(b"0\r\n\r\n"))
    assert b"x-ratelimit-limit-requests: 1000\r\n" in client.written
    client.transport.lose()
    assert door.path.engine().was_aborted, "the exchange answers the client's connection"


def test_a_client_that_leaves_its_queue_holds_nothing_and_is_passed_over() -> None:
    door = Door()
    door.ask("one")
    gone = door.ask("two")
    door.ask("three")
    gone.transport.lose()
    assert (door.controller.waiting, door.record("two").status, gone.written) == (1, 499, b"")
    door.answer()
    assert door.sent == ["one", "three"]


def test_a_client_that_leaves_while_its_leases_are_fetched_holds_none() -> None:
    door = Door()
    door.ask("one", LIMITED).transport.lose()
    assert (door.controller.waiting, door.record("one").reason) == (0, "client_gone")
    door.lend()
    assert (door.sent, door.book.outstanding) == ([], 0)


def test_closing_refuses_all_that_wait_for_their_turn_or_for_leases() -> None:
    door = Door()
    running = door.ask("one")
    waiting = [door.ask("two"), door.ask("three", LIMITED)]
    door.gate.close()
    assert [status(client) for client in waiting] == [503, 503]
    assert all(b'"code":"draining"' in client.written for client in waiting)
    door.lend()
    door.answer()
    assert (status(running), door.sent, door.book.outstanding) == (200, ["one"], 0)


def test_what_has_waited_too_long_is_refused_with_the_tick() -> None:
    door = Door()
    door.ask("one")
    late = door.ask("two", deadline_s=door.path.clock() + 5.0)
    door.gate.tick()
    assert status(late) == 0
    door.path.clock.pass_s(6.0)
    door.gate.tick()
    assert (status(late), door.record("two").reason) == (504, "deadline_exceeded")


def test_the_tick_starts_those_for_whom_there_has_come_to_be_room() -> None:
    door = Door()
    door.ask("one")
    door.ask("two")
    door.path.health.of(ReplicaId("a")).allow(2)
    door.gate.tick()
    door.path.network.turn()
    assert sorted(door.sent) == ["one", "two"]


def test_what_no_replica_could_ever_take_is_raised() -> None:
    door = Door(RequestPath(*replicas("a", model="n")))
    with pytest.raises(UnknownModel):
        door.receive(MemoryClient(door.path.clock).connection, "one")


def test_what_an_engine_cannot_be_asked_is_raised_at_once_and_answered_later() -> None:
    door = Door(RequestPath(*replicas("a", engine="tgi", in_flight_max=1)))
    with pytest.raises(InvalidField):
        door.receive(MemoryClient(door.path.clock).connection, "one", choices=2)
    door.ask("two")
    client = door.ask("three", choices=2)
    door.ask("four")
    door.answer()
    assert (status(client), door.sent) == (400, ["two", "four"])


def test_what_an_engine_cannot_be_asked_uses_nothing_of_its_limits() -> None:
    door = Door(RequestPath(*replicas("a", engine="tgi")))
    door.ask("one", ROOMY).transport.lose()
    door.lend()
    with pytest.raises(InvalidField):
        door.receive(MemoryClient(door.path.clock).connection, "two", ROOMY, choices=2)
    assert (door.book.outstanding, door.sent) == (0, [])


def test_a_mistake_of_ours_as_a_turn_comes_is_answered_500_and_costs_the_next_nothing() -> None:
    door = Door(RequestPath(*replicas("a", in_flight_max=1), dialects={"vllm": MistakenDialect()}))
    clients = [door.ask(name) for name in ("one", "mistaken", "three")]
    door.answer()
    door.answer()
    assert [status(client) for client in clients] == [200, 500, 200]
    assert door.record("mistaken").reason == "internal_error"
