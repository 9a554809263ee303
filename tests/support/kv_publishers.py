"""A publisher of KV events whose every message the test writes itself, as vLLM's sockets would send it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import zmq

from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.kv_event import KvPublisher
from heterodyne.engines.kv_sequence import END_OF_REPLAY
from tests.support.replica_states import fleet, replica

ANYWHERE = "tcp://127.0.0.1:*"


class WrittenPublisher:
    """Nothing is sent unless told to."""

    def __init__(self, endpoint: str = ANYWHERE, replay: str = ANYWHERE) -> None:
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._live, self._replay = self._context.socket(zmq.XPUB), self._context.socket(zmq.ROUTER)
        self._live.setsockopt(zmq.XPUB_VERBOSE, 1)  # of one who comes before another has quite left is told, too
        self._live.bind(endpoint)
        self._replay.bind(replay)
        self.at = KvPublisher(
            endpoint=self._live.LAST_ENDPOINT.decode().rstrip("\0"),
            replay=self._replay.LAST_ENDPOINT.decode().rstrip("\0"),
        )

    def has_subscriber(self) -> bool:
        """Whether somebody has begun to listen since last asked."""
        return bool(self._live.poll(0)) and self._live.recv() == b"\x01"

    def send(self, number: int, *events: object) -> None:
        self.send_frames(b"topic", number.to_bytes(8, "big"), batch(*events))

    def send_frames(self, *frames: bytes) -> None:
        self._live.send_multipart(frames)

    def try_asked(self) -> int | None:
        """The number a replay is to begin with; None: nobody asks."""
        if not self._replay.poll(0):
            return None
        self._asker, _, first = self._replay.recv_multipart()
        return int.from_bytes(first, "big")

    def answer(self, events: dict[int, object] | None = None, *, topic: bytes | None = None) -> None:
        """To who asked last: events by number, then the end; with the topic as newer engines do, or without."""
        before = (self._asker, b"") if topic is None else (self._asker, b"", topic)
        for number, event in (events or {}).items():
            self._replay.send_multipart((*before, number.to_bytes(8, "big"), batch(event)))
        end = before if topic is None else (self._asker, b"", b"")
        self._replay.send_multipart((*end, END_OF_REPLAY, b""))

    def close(self) -> None:
        self._context.destroy(linger=0)


@contextmanager
def written(endpoint: str = ANYWHERE, replay: str = ANYWHERE) -> Iterator[WrittenPublisher]:
    publisher = WrittenPublisher(endpoint, replay)
    try:
        yield publisher
    finally:
        publisher.close()


def batch(*events: object) -> bytes:
    return msgspec.msgpack.encode((1.0, events, 0))


def stored(*hashes: int, tokens: int = 16) -> dict[str, Any]:
    """Blocks in a row, without their ids."""
    return {
        "type": "BlockStored",
        "block_hashes": hashes,
        "parent_block_hash": None,
        "token_ids": [],
        "block_size": tokens,
    }


def removed(*hashes: int) -> dict[str, Any]:
    return {"type": "BlockRemoved", "block_hashes": hashes}


def publishing_fleet(*publishers: KvPublisher, name: str = "a", version: int = 1) -> FleetSnapshot:
    """One replica that publishes there, one rank at each, and one that does not."""
    return fleet(replica(name, kv_publishers=publishers), replica("silent"), version=version)
