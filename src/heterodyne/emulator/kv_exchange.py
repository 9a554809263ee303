"""A prompt's KV handed from one emulated vLLM to another, as its NixlConnector has it.

A request with `do_remote_decode` ends with its first token; its blocks stay until another engine has read them or their
lease ends. A request with `do_remote_prefill` waits until it has read them, as long as the link takes; what cannot be
read is computed. One that is cancelled meanwhile is read to its end all the same, for that is how the other side learns
that it may let go. Engines find each other by the host and port that a hand-over names, here the emulator's own.
"""

import asyncio
from collections.abc import Callable

import msgspec
from msgspec import Struct

from heterodyne.emulator.faults import Faults, PoorHandOver
from heterodyne.emulator.observations import EmulatedHistogram
from heterodyne.emulator.order import EmulatorOrder
from heterodyne.physics.kv import kv_bytes_per_token
from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.machine import ReplicaMachine
from heterodyne.wire import fetch
from heterodyne.wire.address import Address
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError

LEASE_S = 30.0  # vLLM's own
TAKE = "/emulator/kv"  # stands for the side channel
TAKE_TIMEOUT_S = 5.0
GIVES_UP_S = 14.0  # after which a real one was seen to compute what a dead engine was to hand over

BYTES = tuple(float(2 ** (10 + power)) for power in range(1, 25, 2))

Arrived = Callable[[int], None]  # so many of the prompt's tokens; 0: none will come


class KvTransferParams(Struct):
    """As requests have them."""

    do_remote_decode: bool = False
    do_remote_prefill: bool = False
    remote_request_id: str = ""
    remote_host: str = ""
    remote_port: int = 0


class TakeOrder(Struct):
    """What one engine asks of another."""

    request_id: str


class Taken(Struct):
    """What it gets."""

    tokens: int


class KvExchange:
    """One per engine."""

    def __init__(
        self,
        order: EmulatorOrder,
        machine: ReplicaMachine,
        *,
        loop: asyncio.AbstractEventLoop,
        faults: Callable[[], Faults],
    ) -> None:
        self._machine = machine
        self._faults = faults
        self._loop = loop
        self._speed = order.speed
        self._block_tokens = order.scheduling.block_tokens
        self._token_bytes = kv_bytes_per_token(order.layout.model, order.layout.kv_precision)
        self._link_bytes_per_s = order.kv_link_bytes_per_s
        self._pool = ConnectionPool(loop, idle_max=0)
        self._kept: dict[str, tuple[Job, asyncio.TimerHandle]] = {}
        self._reading: dict[int, asyncio.Task[None]] = {}
        self._unwanted: set[int] = set()  # of those, whose requests were cancelled
        self.address = ("127.0.0.1", 0)
        self.external_tokens = 0  # that were not computed here
        self.bytes_read = EmulatedHistogram(BYTES)
        self.reads, self.reads_failed, self.expired = 0, 0, 0

    @property
    def is_used(self) -> bool:
        """Whether it was ever asked to hand over or to read: one that was started without a connector is not."""
        return bool(self._kept or self.expired or self.reads or self.reads_failed)

    @property
    def pinned(self) -> int:
        """Prompts whose blocks wait to be read."""
        return len(self._kept)

    def keep(self, job: Job) -> None:
        """A prefill has ended."""
        if self._faults().hand_over in (PoorHandOver.SILENT, PoorHandOver.EXPIRED):
            self._machine.release_kv(job.id)
            return
        name = str(job.id)
        self._kept[name] = (job, self._loop.call_later(LEASE_S, self._expire, name))

    def params(self, job: Job) -> dict[str, object]:
        """What its answer hands over."""
        if self._faults().hand_over is PoorHandOver.SILENT:
            return {}
        host, port = self.address
        blocks = -(-job.prompt_tokens // self._block_tokens)
        return {
            "do_remote_prefill": True,
            "do_remote_decode": False,
            "remote_block_ids": [list(range(blocks))],
            "remote_engine_id": f"{host}:{port}",
            "remote_request_id": str(job.id),
            "remote_host": host,
            "remote_port": port,
            "tp_size": 1,
            "remote_num_tokens": job.prompt_tokens,
            "transfer_mode": "pull",
        }

    def take(self, order: TakeOrder) -> Taken:
        """Another engine has read the blocks: they are free."""
        kept = self._kept.pop(order.request_id, None)
        if kept is None:
            return Taken(tokens=0)
        job, timer = kept
        timer.cancel()
        self._machine.release_kv(job.id)
        tokens = job.prompt_tokens
        return Taken(tokens=tokens // 2 if self._faults().hand_over is PoorHandOver.SHORT else tokens)

    def read(self, job: Job, params: KvTransferParams, arrived: Arrived) -> None:
        """Fetch what the params name; `arrived` is called unless it is cancelled."""
        task = self._loop.create_task(self._read(job, params, arrived))
        self._reading[job.id] = task
        task.add_done_callback(lambda _: self._end_reading(job.id))

    def cancel(self, job_id: int) -> None:
        """Nobody waits for it any more."""
        if job_id in self._reading:
            self._unwanted.add(job_id)

    def end_leases(self) -> None:
        """Of all that is held, as if their time were over."""
        for name, (_, timer) in tuple(self._kept.items()):
            timer.cancel()
            self._expire(name)

    def close(self) -> None:
        """Hold nothing, fetch nothing."""
        for _, timer in self._kept.values():
            timer.cancel()
        for task in tuple(self._reading.values()):
            task.cancel()

    async def _read(self, job: Job, params: KvTransferParams, arrived: Arrived) -> None:
        byte_count = job.prompt_tokens * self._token_bytes
        address = Address(params.remote_host, params.remote_port)
        try:
            await asyncio.sleep(byte_count / self._link_bytes_per_s * self._faults().kv_slowdown / self._speed)
            body = msgspec.json.encode(TakeOrder(request_id=params.remote_request_id))
            answer = await fetch.post(self._pool, address, TAKE, body, timeout_s=TAKE_TIMEOUT_S)
            tokens = msgspec.json.decode(answer.body, type=Taken).tokens
        except (WireError, msgspec.MsgspecError):
            tokens = 0
            await asyncio.sleep(GIVES_UP_S / self._speed)
        if tokens:
            self.reads += 1
            self.bytes_read.observe(byte_count)
            self.external_tokens += tokens
        else:
            self.reads_failed += 1
        if job.id not in self._unwanted:
            arrived(tokens)

    def _end_reading(self, job_id: int) -> None:
        del self._reading[job_id]
        self._unwanted.discard(job_id)

    def _expire(self, name: str) -> None:
        job, _ = self._kept.pop(name)
        self.expired += 1
        self._machine.release_kv(job.id)
