"""Publishes KV events over ZeroMQ, and repeats lost ones on request.

Subscribers get `[topic, sequence number, batch]`. After a gap a subscriber sends the number to begin with to the
replay socket, and gets every batch from there that is still kept, then the end marker.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from heterodyne.domain.errors import InvalidSpec
from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.faults import Share
from heterodyne.emulator.kv.changes import CacheCleared, Change, changes
from heterodyne.emulator.kv.dialects import spelling_of
from heterodyne.physics.replica.step import EngineStep, StepResult

KEPT_MAX = 10_000  # batches for replay, as vLLM and SGLang keep
WAITING_MAX = 100_000  # batches for one slow subscriber; ZeroMQ drops what comes after, for that one alone
TOPIC = b""
RANK = 0
END = (-1).to_bytes(8, "big", signed=True)


class KvEvents:
    """One engine's publisher; everything happens on the event loop and nothing waits."""

    def __init__(self, engine: EmulatedEngine, *, loop: asyncio.AbstractEventLoop) -> None:
        order = engine.order
        assert order.kv_events is not None, "the order wants no KV events"
        self.unsent = 0  # batches that went to the replay buffer only
        self._engine = engine
        self._loop = loop
        self._spell = spelling_of(order.layout.engine)
        self._encode = msgspec.msgpack.Encoder().encode
        self._losing = Share()
        self._next = 0
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=KEPT_MAX)
        self._zmq = _zmq()
        self._context = self._zmq.Context()
        self._publisher = self._bound(self._zmq.PUB, order.kv_events, WAITING_MAX)
        self.endpoint = _endpoint(self._publisher)
        self._replay = None
        self.replay_endpoint: str | None = None
        if order.kv_events_replay is not None:
            self._replay = self._bound(self._zmq.ROUTER, order.kv_events_replay, KEPT_MAX + 1)
            self.replay_endpoint = _endpoint(self._replay)
            loop.add_reader(self._replay.getsockopt(self._zmq.FD), self._serve_replay)
        engine.kv_endpoint = self.endpoint
        engine.listeners.append(self._on_step)
        engine.clear_listeners.append(self._on_cleared)

    @property
    def is_closed(self) -> bool:
        """Whether it has let go of its sockets."""
        return bool(self._context.closed)

    def close(self) -> None:
        """Let go of the sockets; closing twice is harmless."""
        if self.is_closed:
            return
        self._engine.listeners.remove(self._on_step)
        self._engine.clear_listeners.remove(self._on_cleared)
        if self._replay is not None:
            self._loop.remove_reader(self._replay.getsockopt(self._zmq.FD))
            self._replay.close(linger=0)
        self._publisher.close(linger=0)
        self._context.term()

    def _on_step(self, _: EngineStep, ended: StepResult) -> None:
        if ended.stored or ended.removed:
            self._publish(changes(self._engine, ended))

    def _on_cleared(self) -> None:
        self._publish([CacheCleared()])

    def _publish(self, found: list[Change]) -> None:
        events = [event for change in found for event in self._spell(change)]
        if not events:
            return
        number, self._next = self._next, self._next + 1
        batch = self._encode((self._engine.wall_s, events, RANK))
        self._kept.append((number, batch))
        if self._losing.picks(self._engine.faults.kv_event_loss_share):
            self.unsent += 1
            return
        try:
            self._publisher.send_multipart((TOPIC, number.to_bytes(8, "big"), batch), self._zmq.NOBLOCK)
        except self._zmq.Again:
            self.unsent += 1

    def _serve_replay(self) -> None:
        """Its descriptor signals a change only once: take everything there is."""
        assert self._replay is not None
        while self._replay.getsockopt(self._zmq.EVENTS) & self._zmq.POLLIN:
            frames = self._replay.recv_multipart(self._zmq.NOBLOCK)
            if len(frames) == 3 and len(frames[2]) == 8:
                self._repeat(frames[0], int.from_bytes(frames[2], "big"), self._replay.send_multipart)

    def _repeat(self, client: bytes, first: int, send: Callable[[tuple[bytes, ...], int], Any]) -> None:
        for number, batch in self._kept:
            if number >= first:
                send((client, b"", number.to_bytes(8, "big"), batch), self._zmq.NOBLOCK)
        send((client, b"", END, b""), self._zmq.NOBLOCK)

    def _bound(self, kind: int, endpoint: str, waiting_max: int) -> Any:
        socket = self._context.socket(kind)
        socket.setsockopt(self._zmq.SNDHWM, waiting_max)
        try:
            socket.bind(endpoint)
        except self._zmq.ZMQError as error:
            self._context.destroy(linger=0)
            reason = self._zmq.strerror(error.errno)
            raise InvalidSpec(
                f"kv_events: cannot listen at {endpoint}: {reason}; give a free tcp://HOST:PORT"
            ) from error
        return socket


def _endpoint(socket: Any) -> str:
    """With the port it got, where `*` left the choice to the system."""
    return str(socket.LAST_ENDPOINT.decode().rstrip("\0"))


def _zmq() -> Any:
    try:
        import zmq  # noqa: PLC0415  an extra; who publishes nothing does not need it
    except ModuleNotFoundError as error:
        raise InvalidSpec("kv_events: needs ZeroMQ; `pip install 'heterodyne[kv-events]'`") from error
    return zmq
