"""How an engine is asked to exchange KV with another, by the shape of the exchange. Pure: no sockets, no clocks.

    sequential   one computes the prompt and says where it lies; the other is told, and fetches it
    paired       both are asked at once and meet at a place they are told
    file         one writes a slot to a file, the other reads it
    implicit     nothing is said: engines read and write a store by themselves

Every reader raises `EngineGarbage` where nothing was exchanged, whatever status the engine gave it: then the prompt is
computed, which is always possible and always right.
"""

from typing import Final, Protocol, final

from heterodyne.ports.engine_control import ControlCall
from heterodyne.ports.engine_request import EngineRequest


@final
class HandedOver:
    """What one engine says of a prompt it has computed, for another to fetch it."""

    __slots__ = ("byte_count", "lease_s", "members", "tokens")

    def __init__(self, members: bytes, *, tokens: int, lease_s: float | None, byte_count: int = 0) -> None:
        self.members: Final = members  # the JSON value that goes to the other engine, unchanged
        self.tokens: Final = tokens  # of the prompt; 0: not said
        self.lease_s: Final = lease_s  # until it lets go of it, from when it was computed; None: not said
        self.byte_count: Final = byte_count  # 0: not said


@final
class SavedSlot:
    """What a slot's file holds."""

    __slots__ = ("byte_count", "tokens")

    def __init__(self, tokens: int, byte_count: int) -> None:
        self.tokens: Final = tokens
        self.byte_count: Final = byte_count


class SequentialTransfer(Protocol):
    """A prefill replica is asked first; its answer goes with the request to the decode replica."""

    lease_s: float  # how long a hand-over is good for, from when it was asked for; infinite: nobody says

    def prefill(self, call: EngineRequest) -> EngineRequest:
        """The call that computes the prompt and keeps its KV for somebody."""
        ...

    def read(self, body: bytes) -> HandedOver | None:
        """What its answer hands over; None: the prompt is too short for that, which is nobody's fault."""
        ...

    def decode(self, call: EngineRequest, handed_over: HandedOver) -> EngineRequest:
        """The call that begins with the other's KV."""
        ...

    def release(self, call: EngineRequest, handed_over: HandedOver) -> EngineRequest | None:
        """The least call by which the other's KV is read, so that it is let go of; None: there is none."""
        ...


class PairedTransfer(Protocol):
    """Prefill and decode replicas get the same request at once, and the place where they meet."""

    def pair(self, call: EngineRequest, host: str, port: int, room: int) -> EngineRequest:
        """The call for either; `room` is a number below 2^63 that no other pair has."""
        ...


class FileTransfer(Protocol):
    """A slot is written to a file that another engine reads."""

    slots_path: str  # the page that `read_slots` wants

    def read_slots(self, status: int, body: bytes) -> int:
        """How many it has."""
        ...

    def prefill(self, call: EngineRequest, slot: int) -> EngineRequest:
        """The call that computes the prompt into this slot."""
        ...

    def save(self, slot: int, file_name: str) -> ControlCall: ...

    def restore(self, slot: int, file_name: str) -> ControlCall:
        """One that fails leaves the slot empty."""
        ...

    def read_saved(self, status: int, body: bytes, slot: int) -> SavedSlot: ...

    def read_restored(self, status: int, body: bytes, slot: int) -> SavedSlot: ...

    def in_slot(self, call: EngineRequest, slot: int) -> EngineRequest:
        """The same call, to be answered in this slot with what it holds."""
        ...
