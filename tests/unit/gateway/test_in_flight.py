"""The exchanges of one worker: counted while they last, and bounded in what they remember."""

from heterodyne.domain.errors import Draining
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.in_flight import InFlight
from tests.support.memory_network import MemoryClient
from tests.support.request_paths import STREAM_END, STREAM_HEAD, RequestPath, chat, replicas, token

EVENT_BYTES = len(token())


class Streams:
    """A worker whose exchanges have streamed so many events each."""

    def __init__(self, *events: int) -> None:
        self.path = RequestPath(*replicas("a"))
        self.models: list[str] = []
        self.in_flight = InFlight(self.path.upstream.limit, self.models.append)
        self.exchanges = [self._stream(count) for count in events]

    def _stream(self, events: int) -> Exchange:
        exchange = self.path.exchange(self.in_flight, MemoryClient(self.path.clock))
        exchange.start(self.path.choice())
        self.path.network.turn()
        self.path.engine().feed(STREAM_HEAD, *[token()] * events)
        return exchange

    @property
    def kept(self) -> list[int]:
        """Events that each still remembers."""
        return [exchange.kept_bytes // EVENT_BYTES for exchange in self.exchanges]


def test_exchanges_are_in_flight_from_their_start_to_their_end() -> None:
    streams = Streams(1, 1)
    assert (streams.in_flight.exchanges, streams.in_flight.limit.in_flight) == (set(streams.exchanges), 2)
    streams.exchanges[0].client_gone()
    assert (streams.in_flight.exchanges, streams.in_flight.limit.in_flight) == ({streams.exchanges[1]}, 1)


def test_an_end_makes_room_once_however_often_it_comes() -> None:
    streams = Streams(1)
    streams.path.engine().feed(STREAM_END)
    streams.exchanges[0].client_gone()
    streams.exchanges[0].give_up(Draining("over"))
    assert (streams.models, streams.in_flight.limit.in_flight) == (["m"], 0)


def test_what_is_remembered_stays_within_its_bound() -> None:
    streams = Streams(1, 4, 2)
    streams.in_flight.trim_kept(7 * EVENT_BYTES)
    assert streams.kept == [1, 4, 2]


def test_the_longest_answers_are_let_go_first_and_no_more_than_needed() -> None:
    streams = Streams(1, 4, 2, 3)
    streams.in_flight.trim_kept(6 * EVENT_BYTES)
    assert streams.kept == [1, 0, 2, 3]
    streams.in_flight.trim_kept(2 * EVENT_BYTES)
    assert streams.kept == [1, 0, 0, 0]
    streams.in_flight.trim_kept(0)
    assert streams.kept == [0, 0, 0, 0]


def test_an_answer_that_was_let_go_streams_on() -> None:
    streams = Streams(2)
    streams.in_flight.trim_kept(0)
    streams.path.engine().feed(token(), STREAM_END)
    streams.path.request_log.write_down()
    [record] = streams.path.records.written
    assert (record.status, record.response_bytes) == (200, 3 * EVENT_BYTES + len(STREAM_END) - len(b"0\r\n\r\n"))


def test_answers_that_come_whole_remember_nothing() -> None:
    path = RequestPath(*replicas("a"))
    in_flight = InFlight(path.upstream.limit, [].append)
    exchange = path.exchange(in_flight, MemoryClient(path.clock), chat(stream=False))
    exchange.start(path.choice())
    path.network.turn()
    in_flight.trim_kept(0)
    assert exchange.kept_bytes == 0
