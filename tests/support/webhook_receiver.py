"""A webhook's receiver: it keeps what it was sent, and answers with the statuses it was told to."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import msgspec


class Posted(NamedTuple):
    """One request."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    status: int  # what it was answered with


class Receiver:
    """`statuses` are those of the next answers; after them it takes everything."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.posted: list[Posted] = []
        self.port = 0

    def taken(self) -> list[dict[str, Any]]:
        """The bodies that were answered with 2xx."""
        return [one.body for one in self.posted if one.status < 300]


@contextmanager
def receiving(receiver: Receiver, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Listens on a port of its own, while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(receiver))
    server.daemon_threads = True
    if tls is not None:
        # In the thread of each connection, so that a client that refuses the certificate does not end the listener.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(receiver: Receiver) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def handle(self) -> None:
            try:
                super().handle()
            except ssl.SSLError:
                return  # the client did not trust us

        def do_POST(self) -> None:
            body = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
            status = receiver.statuses.pop(0) if receiver.statuses else 204
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.posted.append(Posted(self.path, headers, body, status))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Tests are quiet."""

    return Handler
