"""Listens to one publisher of KV events over ZeroMQ: live ones as they come, lost ones asked for again.

Sockets only ever connect, so no peer can reach us by them, and what comes is bounded and not believed to be well made.
A connection that was lost counts as an engine that has started again: nothing on the wire would show the difference.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from sys import byteorder
from typing import Any

from heterodyne.concurrency.deadline import Deadline, deadline
from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.kv_event import AllBlocksCleared, BlockRemoved, BlockStored, KvPublisher
from heterodyne.engines.kv_events import MESSAGE_BYTES_MAX, read_kv_events
from heterodyne.engines.kv_sequence import END_OF_REPLAY, NUMBER_BYTES, SequenceStep, SequenceWatch
from heterodyne.ports.kv_sink import KvSink
from heterodyne.telemetry import log, metrics

BURST = 8  # messages in a row, before others have their turn: below a millisecond
WAITING_MAX = 1000  # messages that we have not read; beyond them the publisher drops, and a gap shows it
RECONNECT_MIN_S, RECONNECT_MAX_S = 0.1, 5.0
REPLAY_TIMEOUT_S, REPLAY_MAX_S = 5.0, 60.0  # without a message, and altogether
REPLAY_PAUSE_S = 30.0  # after a replay that did not come
GRACE_S = 10.0  # until a publisher that cannot be reached is worth a warning
KINDS = {BlockStored: "stored", BlockRemoved: "removed", AllBlocksCleared: "cleared"}

_log = log.get("control")


class KvChannel:
    """One of a replica's ranks. `on_begin` is called before anything is heard from a publisher that may be new."""

    def __init__(
        self,
        replica: ReplicaId,
        publisher: KvPublisher,
        rank: int | None,
        sink: KvSink,
        on_begin: Callable[[], None],
        *,
        zmq: Any,
        context: Any,
        clock: Callable[[], float],
        chance: Callable[[], float],
    ) -> None:
        self.replica = replica
        self._publisher = publisher
        self._rank = rank
        self._sink = sink
        self._on_begin = on_begin
        self._zmq = zmq
        self._context = context
        self._clock = clock
        self._chance = chance
        self._numbers = SequenceWatch()
        self._is_connected = False
        self._has_lost = False  # since it began: it is logged once, and counted every time
        self._replays_from_s = float("-inf")
        self._gaps = metrics.kv_gaps.cell((replica,))
        self._counts = {kind: metrics.kv_events.cell((replica, word)) for kind, word in KINDS.items()}

    async def run(self) -> None:
        """Listen until cancelled."""
        zmq, loop = self._zmq, asyncio.get_running_loop()
        warning = loop.call_later(GRACE_S, self._warn)
        try:
            with self._opened(zmq.SUB) as live:
                live.setsockopt(zmq.SUBSCRIBE, b"")
                monitor = live.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
                try:
                    live.connect(self._publisher.endpoint)
                    with _Ears(zmq, loop, live, monitor) as ears:
                        await self._listen(ears, live, monitor)
                finally:
                    live.disable_monitor()
                    monitor.close(linger=0)
        finally:
            warning.cancel()
            self._is_connected = False

    def begin(self) -> None:
        """What comes next may be the first of everything."""
        self._numbers = SequenceWatch()
        self._has_lost = False

    async def _listen(self, ears: "_Ears", live: Any, monitor: Any) -> None:
        while True:
            await ears.wait()
            for _ in range(BURST):
                frames = ears.try_take(live)
                # After the message: whatever it came over is known by then.
                if self._has_connected(ears, monitor):
                    self._on_begin()
                if frames is None:
                    break
                await self._take(frames)
            await asyncio.sleep(0)

    def _has_connected(self, ears: "_Ears", monitor: Any) -> bool:
        was_new = False
        while (frames := ears.try_take(monitor)) is not None:
            is_connected = int.from_bytes(frames[0][:2], byteorder) == self._zmq.EVENT_HANDSHAKE_SUCCEEDED
            was_new = was_new or is_connected
            if is_connected is not self._is_connected:
                self._is_connected = is_connected
                say = _log.info if is_connected else _log.warning
                say(
                    "kv_events_connected" if is_connected else "kv_events_lost",
                    replica=self.replica,
                    endpoint=self._publisher.endpoint,
                )
        return was_new

    async def _take(self, frames: list[bytes]) -> None:
        if len(frames) != 3 or len(frames[1]) != NUMBER_BYTES:
            self._lose("A message of KV events has not three parts, of which the second is its number.")
            return
        number, payload = int.from_bytes(frames[1], "big"), frames[2]
        step = self._numbers.live(number)
        if step.forgets:
            self._on_begin()
            step = self._numbers.live(number)
        if step.replay_from is not None:
            await self._replay(step.replay_from)
            step = self._numbers.replay_ended()
        self._do(step, payload)

    async def _replay(self, first: int) -> None:
        """Whatever it does not bring is lost. Live messages wait in the socket meanwhile."""
        endpoint = self._publisher.replay
        if endpoint is None or self._clock() < self._replays_from_s:
            return
        zmq = self._zmq
        with self._opened(zmq.DEALER) as asking:
            asking.connect(endpoint)
            asking.send_multipart((b"", first.to_bytes(NUMBER_BYTES, "big")), zmq.NOBLOCK)
            try:
                async with deadline(REPLAY_TIMEOUT_S) as limit:
                    with _Ears(zmq, asyncio.get_running_loop(), asking) as ears:
                        await self._take_replay(ears, asking, limit)
            except TimeoutError:
                self._replays_from_s = self._clock() + REPLAY_PAUSE_S * (0.5 + self._chance())
                _log.warning("kv_replay_failed", replica=self.replica, endpoint=endpoint)

    async def _take_replay(self, ears: "_Ears", asking: Any, limit: Deadline) -> None:
        loop = asyncio.get_running_loop()
        ends_s = loop.time() + REPLAY_MAX_S
        while True:
            await ears.wait()
            limit.reschedule(min(ends_s, loop.time() + REPLAY_TIMEOUT_S))
            for _ in range(BURST):
                frames = ears.try_take(asking)
                if frames is None:
                    break
                # Behind an empty one; newer vLLM puts the topic before the number, as in what it publishes.
                if len(frames) not in (3, 4) or len(frames[-2]) != NUMBER_BYTES or frames[-2] == END_OF_REPLAY:
                    return
                self._do(self._numbers.replayed(int.from_bytes(frames[-2], "big")), frames[-1])
            await asyncio.sleep(0)

    def _do(self, step: SequenceStep, payload: bytes) -> None:
        if step.forgets:
            self._lose()
        if not step.applies:
            return
        try:
            batch = read_kv_events(payload)
        except EngineGarbage as error:
            self._lose(error.message)
            return
        now_s = self._clock()
        for event in batch.events:
            self._counts[type(event)][0] += 1.0
            self._sink.on_kv_event(self.replica, event, self._rank, now_s)

    def _lose(self, garbage: str | None = None) -> None:
        self._gaps[0] += 1.0
        if not self._has_lost:
            self._has_lost = True
            _log.info("kv_events_gap", replica=self.replica, garbage=garbage)
        self._sink.on_kv_gap(self.replica, self._clock())

    def _warn(self) -> None:
        if not self._is_connected:
            _log.warning("kv_events_unreachable", replica=self.replica, endpoint=self._publisher.endpoint)

    @contextmanager
    def _opened(self, kind: int) -> Iterator[Any]:
        zmq, socket = self._zmq, self._context.socket(kind)
        # Workers and replicas do not come back all at once.
        pause_ms = int(1000 * RECONNECT_MIN_S * (1 + self._chance()))
        for option, value in (
            (zmq.LINGER, 0),
            (zmq.IPV6, 1),
            (zmq.RCVHWM, WAITING_MAX),
            (zmq.MAXMSGSIZE, MESSAGE_BYTES_MAX),
            (zmq.RECONNECT_IVL, pause_ms),
            (zmq.RECONNECT_IVL_MAX, int(1000 * RECONNECT_MAX_S)),
        ):
            socket.setsockopt(option, value)
        try:
            yield socket
        finally:
            socket.close(linger=0)


class _Ears:
    """Waits on the loop until one of some sockets has something to read."""

    def __init__(self, zmq: Any, loop: asyncio.AbstractEventLoop, *sockets: Any) -> None:
        self._zmq = zmq
        self._loop = loop
        self._sockets = sockets
        self._woken = asyncio.Event()

    def __enter__(self) -> "_Ears":
        for socket in self._sockets:
            self._loop.add_reader(socket.getsockopt(self._zmq.FD), self._woken.set)
        return self

    def __exit__(self, *_: object) -> None:
        for socket in self._sockets:
            self._loop.remove_reader(socket.getsockopt(self._zmq.FD))

    async def wait(self) -> None:
        """A descriptor shows a change, not of what there is: the sockets are asked before and after."""
        while not any(socket.getsockopt(self._zmq.EVENTS) & self._zmq.POLLIN for socket in self._sockets):
            self._woken.clear()
            await self._woken.wait()

    def try_take(self, socket: Any) -> list[bytes] | None:
        """The next message; None: there is none now."""
        try:
            frames: list[bytes] = socket.recv_multipart(self._zmq.NOBLOCK)
        except self._zmq.Again:
            return None
        return frames
