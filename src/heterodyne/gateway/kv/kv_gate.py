"""Stands between an engine's connection and the relay of a stream that is to be made of KV from elsewhere.

With the first bytes it is known whether the KV came while it was still what it should be; from then on the connection
speaks to the relay itself.
"""

from typing import Final, Protocol, final

from heterodyne.gateway.relay import StreamRelay
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.errors import WireError

ERROR: Final = b'"error"'


class Gated(Protocol):
    """Knows whether a stream may be believed."""

    def may_begin(self) -> bool: ...

    def lost_kv(self) -> bool: ...


@final
class KvGate:
    """A connection's listener until the first bytes."""

    __slots__ = ("_connection", "_gated", "_relay")

    def __init__(self, connection: ClientConnection, relay: StreamRelay, gated: Gated) -> None:
        self._connection = connection
        self._relay = relay
        self._gated = gated

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        raise AssertionError("the head came before the gate")

    def on_framed(self, data: bytes, chunks: int) -> None:
        if self._opens(data):
            self._relay.on_framed(data, chunks)

    def on_payload(self, data: bytes) -> None:
        if self._opens(data):
            self._relay.on_payload(data)

    def on_end(self) -> None:
        if not self._gated.lost_kv():
            self._relay.on_end()

    def on_failure(self, error: WireError) -> None:
        if not self._gated.lost_kv():
            self._relay.on_failure(error)

    def _opens(self, data: bytes) -> bool:
        """Whether the stream goes on; else its connection is cut already. Engines that cannot read what they were told
        of begin with an error."""
        if data.find(ERROR) >= 0 and self._gated.lost_kv():
            return False
        if not self._gated.may_begin():
            return False
        self._connection.listener = self._relay
        return True
