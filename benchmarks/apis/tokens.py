"""User instructions per token of streams in other words beside a chat's: `python -m benchmarks.apis.tokens`.

From the engine's connection through the relay to the client's, in one process under callgrind, with transports in
memory. Its clock says that reads come at an engine's pace: events that come closer than anybody reads are sent together
(`gateway/relay.py`), and valgrind is slow. Needs no quiet machine. Prints a table.
"""

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.gateway import upstream
from benchmarks.instructions import callgrind
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.anthropic_stream import AnthropicStream
from heterodyne.gateway.forms.form import StreamForm
from heterodyne.gateway.forms.gemini_stream import GeminiStream
from heterodyne.gateway.forms.responses_stream import ResponsesStream
from heterodyne.gateway.relay import StreamRelay
from heterodyne.gateway.told_relay import ToldRelay
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

FORMS: dict[str, Callable[[Request], StreamForm] | None] = {
    "OpenAI's chat": None,
    "Anthropic's Messages": AnthropicStream,
    "Responses": ResponsesStream,
    "Gemini's API": GeminiStream,
}
TOKENS_PER_READ = (1, 16)
TOKENS = 320
STREAMS = 4
READ_S = 0.02  # between two reads
BODY = b'{"model":"m","input":"x","store":false}'
ASKED = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
COUNTED = "--counted"


class Sink:
    """A transport that takes everything."""

    def write(self, data: bytes) -> None: ...

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int) -> None: ...


class Owner:
    """Whoever the connections and the relay belong to; nothing is to go wrong."""

    def check_head(self, *_: Any) -> Any:
        return ANY_BODY

    def handle(self, *_: Any) -> Any:
        return self

    def refuse(self, error: HeterodyneError, _: Any) -> None:
        raise error

    def stream_broken(self, error: HeterodyneError) -> None:
        raise error

    def _nothing(self, *_: Any) -> None: ...

    client_gone = client_slow = client_ready = stream_begins = stream_complete = is_idle = is_closed = _nothing


def stream(form: Callable[[Request], StreamForm] | None, per_read: int, tokens: int) -> None:
    """One stream, from its head to its end."""
    owner: Any = Owner()
    clock = count(1.0, READ_S).__next__
    server = ServerConnection(owner, WireLimits(), ServerLedger(), clock)
    sink: Any = Sink()
    server.connection_made(sink)
    server.data_received(ASKED)
    request = Request(id="r", operation=Operation.CHAT, model="m", body=BODY, stream=True)
    relay = (
        StreamRelay(server, owner, clock, wants_usage=True, keep=[])
        if form is None
        else ToldRelay(server, owner, clock, wants_usage=True, keep=[], form=form(request))
    )
    client = ClientConnection(owner)
    client.connection_made(sink)

    class Listener:
        def on_head(self, *_: Any) -> None:
            client.listener = relay

    listener: Any = Listener()
    client.send(listener, b"", b"")
    client.data_received(upstream.STREAM_HEAD + upstream.STREAM_FIRST + upstream.STREAM_TOKEN)
    for _ in range(tokens // per_read):
        client.data_received(upstream.STREAM_TOKEN * per_read)
    client.data_received(upstream.STREAM_LAST)
    assert relay.events > tokens


def _count(folder: Path) -> None:
    pid = os.getpid()
    gc.disable()
    callgrind.begin(pid)
    for per_read in TOKENS_PER_READ:
        chat = 0.0
        for name, form in FORMS.items():
            taken = []
            for tokens in (0, TOKENS):
                stream(form, per_read, tokens)
                callgrind.begin(pid)  # from nothing: reading the last dump has taken more than all of them
                for _ in range(STREAMS):
                    stream(form, per_read, tokens)
                taken.append(callgrind.take(pid, folder).instructions / STREAMS)
            each = (taken[1] - taken[0]) / TOKENS
            chat = chat or each
            print(f"{name:22} {per_read:3} a read {each:9,.0f} a token  {each / chat:.2f}", flush=True)


def main() -> int:
    """Runs itself once more, under callgrind."""
    if COUNTED in sys.argv:
        _count(Path(sys.argv[-1]))
        return 0
    lacking = callgrind.missing()
    if lacking:
        print(lacking, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        command = (sys.executable, "-m", "benchmarks.apis.tokens", COUNTED, name)
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        return subprocess.run(callgrind.counted(command, Path(name)), env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
