"""What the gateway asks of an engine dialect: our request to its bytes, its answer to OpenAI's."""

from typing import Protocol

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Request


class EngineDialect(Protocol):
    """One engine's wire. Pure: no sockets, no clocks."""

    name: str
    health_path: str

    def call(self, request: Request, replica: Replica) -> tuple[str, bytes]:
        """The path to POST to and the body to send; the client's own bytes wherever nothing must change."""
        ...

    def answer(self, request: Request, body: bytes) -> bytes:
        """The engine's whole 200 answer as an OpenAI client expects it."""
        ...

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        """The engine's error answer as one of ours."""
        ...
