"""What the gateway asks of an engine dialect: our request to its bytes, its answer to OpenAI's."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.provider_limit import ToldLimits
from heterodyne.domain.request import Request
from heterodyne.ports.engine_headers import EngineHeaders
from heterodyne.ports.engine_request import EngineRequest


class DeliveredText(NamedTuple):
    """The part of an answer that its client already has."""

    text: str
    tokens: int


# The data of one event of an engine's stream to the data of those that take its place; lives as long as the stream.
EventEdit = Callable[[bytes], tuple[bytes, ...]]


class EngineDialect(EngineHeaders, Protocol):
    """One engine's wire. Pure: no sockets, no clocks."""

    name: str
    health_path: str
    tells_limits: bool  # whether answers may say what is left of rate limits; `limits` is not asked where not
    client_fields: frozenset[str]  # beside OpenAI's API, by path, that clients may send; pools may open more

    def call(self, request: Request, replica: Replica) -> EngineRequest:
        """What to POST; the client's own bytes wherever nothing must change."""
        ...

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | EngineRequest:
        """The engine's whole 200 answer as an OpenAI client expects it, or the next call it takes to get there."""
        ...

    def stream_edit(self, request: Request) -> EventEdit | None:
        """What an OpenAI client needs done to the events of its stream, or None where they may pass as they come."""
        ...

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        """The engine's error answer as one of ours."""
        ...

    def limits(self, status: int, headers: Mapping[bytes, bytes]) -> ToldLimits | None:
        """What the head of an answer says of rate limits; None: nothing."""
        ...

    def continuation(self, request: Request, delivered_text: DeliveredText) -> Request | None:
        """The request that goes on where an answer broke off, for `call` of any replica of this engine.

        None where the engine cannot, or where what was cut cannot be taken up soundly.
        """
        ...
