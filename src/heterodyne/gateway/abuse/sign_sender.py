"""Tells the supervisor of requests whose use is watched: reads their prompts in a thread, and sends signs of them.

The queue is bounded in requests and in bytes. What does not fit, and what the supervisor has no room for, is counted
and gone: nothing that a client waits for depends on it.
"""

import errno
import socket
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble

SOCKET: Final = "abuse.sock"  # the supervisor's, in the run folder
SEND_INTERVAL_S: Final = 0.25
QUEUE_MAX: Final = 8192  # requests
QUEUE_BYTES_MAX: Final = 32 << 20  # of their bodies
DATAGRAM_SIGNS: Final = 128
UNSENT_MAX: Final = 64  # datagrams that the supervisor had no room for
CLOSE_TIMEOUT_S: Final = 2.0
FULL: Final = (errno.EAGAIN, errno.ENOBUFS)

_log = log.get("gateway")


ReadPrompts = Callable[..., list[AbuseSign]]


class Ended(NamedTuple):
    """A request that waits to be read."""

    about: AbuseSign
    body: bytes  # empty: it is not read
    verbatim: bool


class SignSender:
    """One per worker; its thread starts with the first policy. `add` is for the worker's loop."""

    def __init__(self, run_dir: Path, secret: bytes, *, interval_s: float = SEND_INTERVAL_S) -> None:
        self._path = str(run_dir / SOCKET)
        self._secret = secret
        self._interval_s = interval_s
        self._queue: deque[Ended] = deque()
        self._bytes_in = 0  # only the loop writes it
        self._bytes_out = 0  # only the thread does
        self._unsent: deque[tuple[bytes, int]] = deque()  # and of how many signs
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._trouble = Trouble(_log, "abuse_signs_not_sent", socket=self._path)

    def start(self) -> None:
        """Send from now on."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="abuse", daemon=True)
            self._thread.start()

    def add(self, about: AbuseSign, body: bytes, *, verbatim: bool) -> None:
        """Queue one; never blocks."""
        if len(self._queue) >= QUEUE_MAX:
            metrics.abuse_signs_dropped.add(("queue",))
            return
        if body and self._bytes_in - self._bytes_out + len(body) > QUEUE_BYTES_MAX:
            metrics.abuse_signs_dropped.add(("body",))
            body = b""  # what it cost is told all the same
        self._bytes_in += len(body)
        self._queue.append(Ended(about, body, verbatim))

    def close(self) -> None:
        """Send what is queued and stop."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        # Workers have little use for numpy, which takes time and memory: it is loaded where there is a policy.
        from heterodyne.safety.abuse.asked import signs_of  # noqa: PLC0415  # numpy
        from heterodyne.safety.abuse.minhash import MinHasher  # noqa: PLC0415

        read = partial(signs_of, hasher=MinHasher(self._secret))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
            own.setblocking(False)
            while not self._closing.wait(self._interval_s):
                self._rooted(own, read)
            self._rooted(own, read)

    def _rooted(self, own: socket.socket, read: ReadPrompts) -> None:
        try:
            self._send_all(own, read)
        except Exception as error:  # noqa: BLE001  # the root of a thread: what was read of these requests is lost
            self._trouble.failed(error, is_ours=True)

    def _send_all(self, own: socket.socket, read: ReadPrompts) -> None:
        while self._queue or self._unsent:
            if not self._unsent:
                self._gather(read)
            message, count = self._unsent[0]
            try:
                own.sendto(message, self._path)
            except OSError as error:
                if error.errno in FULL and len(self._unsent) <= UNSENT_MAX:
                    return  # the supervisor is busy; the next time
                metrics.abuse_signs_dropped.add(("socket",), count)
                self._trouble.failed(error)
            else:
                self._trouble.worked()
            self._unsent.popleft()

    def _gather(self, read: ReadPrompts) -> None:
        """As many as one datagram takes."""
        signs: list[AbuseSign] = []
        while self._queue and len(signs) < DATAGRAM_SIGNS:
            ended = self._queue.popleft()
            self._bytes_out += len(ended.body)
            signs += read(ended.about, ended.body, verbatim=ended.verbatim)
        self._unsent.append((msgspec.msgpack.encode(signs), len(signs)))
