"""What an attempt waits for before its engine is asked: an adapter on the replica, a large body, KV for its prompt."""

from typing import Final, Protocol, final

from heterodyne.domain.errors import EngineError, HeterodyneError
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.kv.kv_failure import KvOutcome
from heterodyne.gateway.kv.kv_use import KvUse
from heterodyne.gateway.offload.large import LargeCall
from heterodyne.gateway.upstream import Upstream
from heterodyne.ports.adapters import AdapterUse
from heterodyne.ports.engine_request import EngineRequest

OK: Final = 200


class NeedsOwner(Protocol):
    """The attempt. None of this is called once it is over."""

    def has_needs(self, call: EngineRequest) -> None:
        """This can be sent now."""
        ...

    def lacks(self, error: EngineError) -> None: ...

    def has_no_call(self, error: HeterodyneError) -> None: ...

    def ask_plainly(self, call: EngineRequest) -> None:
        """What the engine says to the last call is not wanted: this one says nothing of KV."""
        ...


@final
class AttemptNeeds:
    """One per attempt that has to wait for anything. They are met one after the other, as often as it asks."""

    __slots__ = ("_adapter", "_call", "_is_over", "_owner", "_upstream", "_use", "_wire", "kv")

    def __init__(
        self, owner: NeedsOwner, upstream: Upstream, wire: ReplicaWire, adapter: str | None, kv: KvUse | None
    ) -> None:
        self._owner = owner
        self._upstream = upstream
        self._wire = wire
        self._adapter = adapter
        self.kv = kv
        self._use: AdapterUse | None = None
        self._call: EngineRequest | LargeCall | None = None
        self._is_over = False
        if kv is not None:
            kv.on_lost = lambda: self._try_without_kv(KvOutcome.UNREACHABLE)

    def meet(self, call: EngineRequest | LargeCall) -> None:
        """Wait for what it takes to send this."""
        self._call = call
        if self._adapter is not None and self._use is None:
            self._use = self._upstream.adapters.use(self._wire.replica, self._adapter)
            self._use.when_ready(self._has_adapter)
        else:
            self._make()

    def end(self, now_s: float, *, is_answered: bool) -> None:
        """The attempt is over."""
        self._is_over = True
        if isinstance(self._call, LargeCall):
            self._call.cancel()
        if self._use is not None:
            self._use.end()
        if self.kv is not None:
            self.kv.end(now_s, is_answered=is_answered)

    def _has_adapter(self, error: EngineError | None) -> None:
        if self._is_over:
            return
        if error is not None:
            self._owner.lacks(error)
            return
        self._make()

    def _make(self) -> None:
        call = self._call
        assert call is not None
        if isinstance(call, LargeCall):
            call.make(self._has_made)
        else:
            self._bring(call)

    def _has_made(self, made: EngineRequest | HeterodyneError) -> None:
        if self._is_over:
            return
        if isinstance(made, HeterodyneError):
            self._owner.has_no_call(made)
            return
        self._call = made
        self._bring(made)

    def _bring(self, call: EngineRequest) -> None:
        if self.kv is None:
            self._owner.has_needs(call)
        else:
            self.kv.prepare(call, self._has_kv)

    def _has_kv(self, call: EngineRequest) -> None:
        if not self._is_over:
            self._owner.has_needs(call)

    # Asked while the engine answers.

    @property
    def is_kv_pending(self) -> bool:
        """Whether the engine was told of KV that has not been seen to arrive."""
        return self.kv is not None and self.kv.is_pending

    def check(self, now_s: float) -> None:
        """Ask again without KV where an answer has waited for it too long."""
        if self.kv is not None and now_s > self.kv.late_at_s:
            self._try_without_kv(KvOutcome.LATE)

    def may_begin(self) -> bool:
        """Whether a stream that begins now is to be believed; else the engine is asked again."""
        if self.kv is None or self.kv.try_begin(self._upstream.clock()):
            return True
        self._try_without_kv(KvOutcome.STALE)
        return False

    def lost_kv(self) -> bool:
        """Whether a stream that ended before it began is asked for again."""
        return self._try_without_kv(KvOutcome.UNREACHABLE)

    def distrusts(self, status: int) -> bool:
        """Whether a whole answer is asked for again."""
        if status != OK:
            return self._try_without_kv(KvOutcome.REFUSED)
        return not self.may_begin()

    def _try_without_kv(self, outcome: KvOutcome) -> bool:
        if self._is_over or self.kv is None or not self.kv.is_pending:
            return False
        self._owner.ask_plainly(self.kv.give_up(outcome, self._upstream.clock()))
        return True
