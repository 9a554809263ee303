"""A request at the door: understood and not yet started. It may wait, for leases or for its turn, and it may leave."""

from typing import TYPE_CHECKING

from heterodyne.admission.limits.refusal import Refused
from heterodyne.admission.queue.waiting import Waiting
from heterodyne.domain.request import Request
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.lease_courier import Waiter
from heterodyne.gateway.stay import Stay
from heterodyne.routing.ask import Ask
from heterodyne.routing.choice import Choice
from heterodyne.wire.server_connection import ServerConnection

if TYPE_CHECKING:
    from heterodyne.gateway.lobby import Lobby


class Visit:
    """Answers the client's connection while nobody else does."""

    __slots__ = (
        "_lobby",
        "arrived_s",
        "ask",
        "choice",
        "connection",
        "is_arriving",
        "is_plain",
        "lease",
        "refused",
        "request",
        "stay",
        "turn",
        "waiting",
    )

    def __init__(
        self,
        lobby: "Lobby",
        connection: ServerConnection,
        request: Request,
        ask: Ask,
        stay: Stay,
        *,
        is_plain: bool,
        arrived_s: float,
    ) -> None:
        self._lobby = lobby
        self.connection = connection
        self.request = request
        self.ask = ask
        self.stay = stay
        self.is_plain = is_plain  # errors are told in the shape of the Open Inference Protocol
        self.arrived_s = arrived_s
        self.is_arriving = True  # whoever called the door has not been told yet who answers
        self.turn: Exchange | None = None  # once it was started
        self.choice: Choice | None = None  # the latest decision; None: nobody has room
        self.lease: Waiter | None = None  # while it waits for leases
        self.refused: Refused | None = None  # by one of its limits
        self.waiting: Waiting | None = None  # while it waits for its turn

    def client_gone(self) -> None:
        """Nobody is left to answer."""
        self._lobby.abandon(self)

    def client_slow(self) -> None:
        """Nothing is being sent."""

    def client_ready(self) -> None:
        """Nothing is being sent."""
