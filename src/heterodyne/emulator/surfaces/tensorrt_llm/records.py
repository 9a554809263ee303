"""What `trtllm-serve` keeps for the next reader: iterations and KV events, each given once."""

from collections import deque
from datetime import UTC, datetime

from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.kv.changes import BlocksRemoved, BlocksStored, Change, changes
from heterodyne.emulator.surface import load_of
from heterodyne.physics.replica.step import EngineStep, StepResult

KEPT_MAX = 1000  # iterations and events; the oldest are forgotten
PRIORITY = 35  # of a block without a priority of its own


class Records:
    """Listens to steps; what was read is gone."""

    def __init__(self, engine: EmulatedEngine) -> None:
        self._engine = engine
        self._iterations: deque[dict[str, object]] = deque(maxlen=KEPT_MAX)
        self._events: deque[dict[str, object]] = deque(maxlen=KEPT_MAX)
        self._iteration = 0
        self._event = 0
        self._created()
        engine.listeners.append(self._on_step)
        engine.clear_listeners.append(self._created)

    def take_iterations(self) -> list[dict[str, object]]:
        """Those since the last read."""
        return _taken(self._iterations)

    def take_events(self) -> list[dict[str, object]]:
        """Those since the last read."""
        return _taken(self._events)

    def _created(self) -> None:
        """A cache begins empty, at the start and whenever it was cleared."""
        blocks = self._engine.order.scheduling.blocks
        self._note({"type": "created", "num_blocks_per_cache_level": [blocks, 0]})

    def _on_step(self, step: EngineStep, ended: StepResult) -> None:
        self._iteration += 1
        self._iterations.append(self._statistics(step, ended))
        for change in changes(self._engine, ended):
            self._note(_spelled(change))

    def _note(self, data: dict[str, object]) -> None:
        self._events.append({"event_id": self._event, "data": data, "window_size": self._engine.order.context_tokens})
        self._event += 1

    def _statistics(self, step: EngineStep, ended: StepResult) -> dict[str, object]:
        engine, load = self._engine, load_of(self._engine)
        scheduling, machine = engine.order.scheduling, engine.machine
        used = round(load.kv_share * scheduling.blocks)
        hits = machine.counters.cached_tokens // scheduling.block_tokens
        misses = machine.counters.prompt_tokens // scheduling.block_tokens - hits
        contexts = len(ended.prompted)
        return {
            "timestamp": datetime.fromtimestamp(engine.wall_s, UTC).strftime("%m-%d-%Y %H:%M:%S.%f"),
            "iter": self._iteration,
            "iterLatencyMS": (step.ends_at_s - step.begins_at_s) * 1e3,
            "newActiveRequestsQueueLatencyMS": 0.0,
            "numNewActiveRequests": len(step.admitted),
            "numActiveRequests": load.running,
            "numQueuedRequests": load.waiting,
            "numCompletedRequests": len(ended.finished),
            "maxNumActiveRequests": scheduling.slots,
            "maxBatchSizeStatic": scheduling.slots,
            "maxBatchSizeRuntime": scheduling.slots,
            "maxNumTokensStatic": scheduling.step_tokens,
            "maxNumTokensRuntime": scheduling.step_tokens,
            "kvCacheStats": {
                "maxNumBlocks": scheduling.blocks,
                "freeNumBlocks": scheduling.blocks - used,
                "usedNumBlocks": used,
                "tokensPerBlock": scheduling.block_tokens,
                "reusedBlocks": hits,
                "missedBlocks": misses,
                "cacheHitRate": hits / (hits + misses) if hits + misses else 0.0,
            },
            "inflightBatchingStats": {
                "numScheduledRequests": step.decoding + contexts,
                "numContextRequests": contexts,
                "numGenRequests": step.decoding,
                "numPausedRequests": len(ended.preempted),
                "numCtxTokens": step.prompt_tokens,
                "microBatchId": 0,
                "avgNumDecodedTokensPerIter": 1.0,
            },
        }


def _spelled(change: Change) -> dict[str, object]:
    if isinstance(change, BlocksStored):
        return {"type": "stored", "parent_hash": change.parent, "blocks": _blocks(change)}
    assert isinstance(change, BlocksRemoved), "no step clears the cache"
    return {"type": "removed", "block_hashes": change.hashes}


def _blocks(stored: BlocksStored) -> list[dict[str, object]]:
    size = stored.block_tokens
    return [
        {
            "type": "stored_block",
            "block_hash": block,
            "tokens": [
                {"type": "unique_token", "token_id": one, "token_extra_id": 0}
                for one in stored.token_ids[place * size : (place + 1) * size]
            ],
            "cache_level": 0,
            "priority": PRIORITY,
            "mm_keys": [],
            "cache_salt": stored.salt or None,
        }
        for place, block in enumerate(stored.hashes)
    ]


def _taken(kept: deque[dict[str, object]]) -> list[dict[str, object]]:
    taken = list(kept)
    kept.clear()
    return taken
