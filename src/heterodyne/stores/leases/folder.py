"""Counters of limits of all gateways on one state folder: one of them keeps the counters, the others ask it.

The gateway that holds the folder's lock keeps the counters and has written into the lock's file on which socket it
lends. When it leaves, or dies, the next that notices takes its place, with the days and months that were saved last.
"""

import fcntl
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.leases import LeaseAnswer, LeaseCall, LimitCounter
from heterodyne.stores.leases.host import HostLeases
from heterodyne.stores.leases.memory import MemoryLeases, SavedCounter
from heterodyne.telemetry import log
from heterodyne.telemetry.run_files import try_write
from heterodyne.telemetry.trouble import Trouble

LOCK = "limits.lock"
SAVED = "limits.json"
FORMER = "limits-*.json"  # one file for each port, as versions before this one had them
PATH_BYTES_MAX = 4096
TIMEOUT_S = 0.25  # of the keeper's answer; a worker that asks us waits longer

_log = log.get("stores")
_decode = msgspec.json.Decoder(tuple[SavedCounter, ...]).decode


class FolderLeases:
    """`LeaseKeeper` of one gateway; `tick` is called every few seconds by its owner."""

    def __init__(self, folder: Path, socket: Path, *, clock: Callable[[], float] = time.time) -> None:
        """`socket` is where this gateway lends to its workers, and to other gateways while it keeps the counters."""
        self._folder = folder
        self._socket = socket
        self._clock = clock
        self._lock = -1
        self._own: MemoryLeases | None = None
        self._saved: tuple[SavedCounter, ...] = ()
        self._keeper: Path | None = None  # the socket of the gateway that keeps them; None: it is not known
        self._clients: dict[str, HostLeases] = {}  # by holder, as the end of a connection is the end of its holder
        self._reader: HostLeases | None = None
        self._trouble = Trouble(_log, "limits_not_locked", folder=str(folder))

    @property
    def is_keeper(self) -> bool:
        """Whether the counters are here."""
        return self._own is not None

    async def exchange(self, call: LeaseCall) -> LeaseAnswer:
        if self._own is None and self._keeper is None:
            self.try_take()
        if self._own is None:
            try:
                return await self._client(call.holder).exchange(call)
            except StoreUnavailable:
                if not self.try_take():
                    raise
        assert self._own is not None
        return self._own.exchange_now(call)

    async def leave(self, holder: str) -> None:
        client = self._clients.pop(holder, None)
        if client is not None:
            await client.close()
        if self._own is not None:
            await self._own.leave(holder)

    async def read(self, counters: Sequence[LimitCounter]) -> tuple[int, ...]:
        if self._own is not None:
            return await self._own.read(counters)
        if self._reader is None:
            self._reader = HostLeases(self._keeper_socket(), timeout_s=TIMEOUT_S)
        return await self._reader.read(counters)

    async def close(self) -> None:
        """Save what there is, and let another gateway have the counters."""
        await self._forget_clients()
        self.save()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
        self._own = None

    async def tick(self) -> None:
        """Save the days and months, or see whether their keeper has gone."""
        if self._own is None or self._lock < 0:
            self.try_take()
        if self._own is not None:
            await self._forget_clients()
            self.save()

    def try_take(self) -> bool:
        """Whether the counters are kept here now; False: another gateway on this folder has them."""
        if self._lock >= 0:
            return True
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            # Counters of our own are better than none: they are kept in memory until the folder can be locked.
            self._trouble.failed(error)
            self._own = self._own or MemoryLeases(clock=self._clock)
            return True
        self._trouble.worked()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._follow(lock)
            return False
        self._lock = lock
        self._announce()
        if self._own is None:
            self._own = MemoryLeases(clock=self._clock)
            self._own.restore(self._restored())
        self._keeper = None
        return True

    def save(self) -> None:
        """The days and months, where they have changed; a disk that is full is tried again at the next tick."""
        if self._own is None or self._lock < 0:
            return
        now = self._own.snapshot()
        if now != self._saved and try_write(self._folder / SAVED, msgspec.json.encode(now), "limits"):
            self._saved = now
            for former in self._folder.glob(FORMER):
                _remove(former)

    def _follow(self, lock: int) -> None:
        """Another gateway holds the lock; its socket is in the file, unless it has just been created."""
        try:
            keeper = Path(os.fsdecode(os.pread(lock, PATH_BYTES_MAX, 0)).strip())
        finally:
            os.close(lock)
        if keeper != self._keeper:
            _log.info("limits_kept_elsewhere", socket=str(keeper))
            self._keeper = keeper if keeper.name else None
            self._clients.clear()
            self._reader = None
        self._own = None

    def _announce(self) -> None:
        try:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, os.fsencode(self._socket), 0)
        except OSError as error:
            _log.warning("limits_not_announced", folder=str(self._folder), error=str(error))

    def _client(self, holder: str) -> HostLeases:
        client = self._clients.get(holder)
        if client is None:
            client = self._clients[holder] = HostLeases(self._keeper_socket(), timeout_s=TIMEOUT_S)
        return client

    def _keeper_socket(self) -> Path:
        if self._keeper is None:
            raise StoreUnavailable(
                "Another gateway on this state folder keeps the counters of limits and has not said where. Try again.",
                retry_after_s=1,
            )
        return self._keeper

    async def _forget_clients(self) -> None:
        clients = [*self._clients.values(), *([] if self._reader is None else [self._reader])]
        self._clients, self._reader = {}, None
        for client in clients:
            await client.close()

    def _restored(self) -> list[SavedCounter]:
        """What was saved last; of what each port had for itself, as versions before this one did it, the sums."""
        saved = self._folder / SAVED
        if saved.exists():
            return list(_read(saved))
        sums: dict[tuple[str, int], SavedCounter] = {}
        for former in self._folder.glob(FORMER):
            for one in _read(former):
                known = sums.get((one.counter, one.window))
                used = one.used + (0 if known is None else known.used)
                sums[one.counter, one.window] = msgspec.structs.replace(one, used=used)
        return list(sums.values())


def _read(path: Path) -> tuple[SavedCounter, ...]:
    try:
        return _decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        _log.error("limits_not_restored", file=str(path), error=str(error))
        return ()


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("limits_not_removed", file=str(path), error=str(error))
