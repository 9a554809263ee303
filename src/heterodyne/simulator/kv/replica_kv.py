"""Where a replica's KV goes in and out, and what its host holds below it."""

from math import inf

from heterodyne.simulator.kv.held_blocks import HeldBlocks
from heterodyne.simulator.kv.transfers import Port


class ReplicaKv:
    """Its network card in both directions, and the bus to its host's memory."""

    __slots__ = ("bus", "held_by_host", "into", "out", "token_bytes")

    def __init__(
        self,
        *,
        token_bytes: float,
        bytes_per_s: float = inf,
        latency_s: float = 0.0,
        bus_bytes_per_s: float = inf,
        held_by_host: HeldBlocks | None = None,
    ) -> None:
        self.token_bytes = token_bytes
        self.into = Port(bytes_per_s, latency_s)
        self.out = Port(bytes_per_s, latency_s)
        self.bus = Port(bus_bytes_per_s)
        self.held_by_host = held_by_host  # None: what the accelerator forgets is gone
