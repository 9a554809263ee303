"""Carries rollouts out. The database has where each stands; nothing that a process knows alone is needed to go on.

Every second: read the rollouts, add what the workers have seen, let the machine decide, save, and tell the workers the
share. A save that another gateway was faster with is left out, and what was seen is added the next time.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence

import msgspec

from heterodyne.concurrency.deadline import deadline
from heterodyne.console.errors import ChangeRefused
from heterodyne.domain.errors import StoreUnavailable, UnknownName
from heterodyne.domain.fleet import Health, Replica
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.ports.rollout_store import RolloutStore, StoredRollout
from heterodyne.rollout import machine
from heterodyne.rollout.golden import GoldenSet
from heterodyne.rollout.groups import NO_GROUPS, TrialGroups, trial_groups
from heterodyne.rollout.machine import Rollout, share_of, split_of
from heterodyne.rollout.plan import StageKind
from heterodyne.supervisor.rollouts import meters
from heterodyne.supervisor.rollouts.arm_reader import ArmReader
from heterodyne.supervisor.workers.view import WorkerView
from heterodyne.telemetry import log

INTERVAL_S = 1.0
IDLE_S = 5.0  # between looks while none runs: another gateway may begin one
READY_WITHIN_S = 600.0  # from the beginning to a replica of the candidate that is ready
LOST_S = 30.0  # without any, after it had been
HISTORY_MAX = 50
ATTEMPTS = 5  # to change one that others change at the same time

_log = log.get("assembly")
_decode = msgspec.json.Decoder(Rollout).decode

Act = Callable[..., Rollout]  # of the machine, by hand: who and when


class RolloutFleet:
    """What rollouts ask of the fleet; assembly fills it in."""

    def __init__(
        self,
        *,
        replicas: Callable[[], Sequence[Replica]],
        views: Callable[[], Sequence[WorkerView]],
        publish: Callable[[Mapping[str, RolloutSplit]], None],
        smoke_problem: Callable[[Replica], Awaitable[str | None]],
        golden_answers: Callable[[Replica, GoldenSet], Awaitable[tuple[bool, str]]],
        parity_problem: Callable[[Sequence[str]], Awaitable[str | None]],
    ) -> None:
        self.replicas = replicas  # wanted
        self.views = views
        self.publish = publish
        self.smoke_problem = smoke_problem
        self.golden_answers = golden_answers
        self.parity_problem = parity_problem  # of pools


class RolloutKeeper:
    """One per supervisor."""

    def __init__(self, store: RolloutStore, fleet: RolloutFleet, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._fleet = fleet
        self._clock = clock
        self._readers: dict[str, ArmReader] = {}
        self._splits: dict[str, RolloutSplit] = {}
        self._ready_at: dict[str, float] = {}  # by rollout, when a replica of its candidate was last seen ready
        self._begun = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.tick()
            except StoreUnavailable as error:
                _log.warning("rollouts_wait", error=str(error))  # the share stays as it is
            with contextlib.suppress(TimeoutError):
                async with deadline(INTERVAL_S if self._readers else IDLE_S):
                    await self._begun.wait()
            self._begun.clear()

    async def tick(self) -> None:
        """One look at every rollout. What is told to the workers is what is saved, whoever has saved it."""
        latest = await self._store.rollouts()
        running = {one.id for one in latest if not one.is_ended}
        for stored in latest:
            if stored.id in running:
                await self._step(stored)
        if running:  # by hand, or by another gateway, they may have changed meanwhile
            latest = await self._store.rollouts()
        self._readers = {id: one for id, one in self._readers.items() if id in running}
        self._ready_at = {id: at for id, at in self._ready_at.items() if id in running}
        self._tell(_decode(one.document) for one in latest)

    async def start(
        self,
        model: str,
        candidate: Sequence[str],
        who: str,
        *,
        copies: int = 0,
        golden: GoldenSet | None = None,
        has_control: bool = True,
    ) -> Rollout:
        """Begin to move a model to these of its pools."""
        pools = dict.fromkeys(one.pool for one in self._fleet.replicas() if one.model == model)
        if not pools:
            raise unknown_name("model", model, dict.fromkeys(one.model for one in self._fleet.replicas()))
        for pool in candidate:
            if pool not in pools:
                raise unknown_name(f"pool of {model}", pool, pools)
        rollout = machine.begin(
            f"{model}-{secrets.token_hex(4)}",
            model,
            baseline=tuple(pool for pool in pools if pool not in candidate),
            candidate=tuple(candidate),
            plan=machine.DEFAULT_PLAN.with_shadow(copies),
            golden=golden,
            has_control=has_control,
            now=self._clock(),
        )
        if not await self._store.begin(_stored(rollout, 0)):
            raise ChangeRefused(f"A rollout of {model} is running; abort it, or wait for its end.")
        _log.info("rollout_begun", rollout=rollout.id, candidate=list(rollout.candidate), who=who)
        self._tell([rollout])
        self._begun.set()
        return rollout

    async def act(self, model: str, act: Act, who: str) -> Rollout:
        """Pause, resume, promote or abort what runs."""
        for _ in range(ATTEMPTS):
            stored = await self._running(model)
            rollout = act(_decode(stored.document), who=who, now=self._clock())
            if await self._store.save(_stored(rollout, stored.revision + 1)):
                self._tell([rollout])
                if rollout.is_ended:
                    meters.note_end(rollout)
                return rollout
        raise ChangeRefused(f"The rollout of {model} changed while it was being changed; try again.")

    async def history(self, model: str | None) -> tuple[Rollout, ...]:
        """Of one model, the latest first; of all, the latest of each."""
        stored = await (self._store.rollouts() if model is None else self._store.history(model, HISTORY_MAX))
        return tuple(_decode(one.document) for one in stored)

    def splits(self) -> Mapping[str, RolloutSplit]:
        """By model, what the workers were told last."""
        return self._splits

    async def _running(self, model: str) -> StoredRollout:
        found = next((one for one in await self._store.rollouts() if one.model == model and not one.is_ended), None)
        if found is None:
            raise UnknownName(f"no rollout of {model} is running")
        return found

    async def _step(self, stored: StoredRollout) -> None:
        rollout = _decode(stored.document)
        reader = self._readers.setdefault(rollout.id, ArmReader())
        seen = reader.read(rollout.id, self._fleet.views())
        now = self._clock()
        later = machine.observed(machine.shadowed(rollout, seen.shadow, now), seen.candidate, seen.baseline, now)
        later = await self._checked(later)
        if later == rollout or not await self._store.save(_stored(later, stored.revision + 1)):
            return
        self._tell([later])  # at once: whoever sees that it was taken back may rely on it
        reader.keep()
        if later.is_ended:
            meters.note_end(later)
        for step in later.steps[len(rollout.steps) :]:
            _log.info("rollout_step", rollout=rollout.id, stage=step.stage, what=step.what, why=step.why)

    async def _checked(self, rollout: Rollout) -> Rollout:
        """What is not seen in users' requests: whether the candidate is there, answers, and may serve."""
        if rollout.is_ended:
            return rollout
        now, ready = self._clock(), self._ready(rollout.candidate)
        if ready:
            self._ready_at[rollout.id] = now
        elif rollout.stage.kind is StageKind.SMOKE:
            is_late = now - rollout.began_at > READY_WITHIN_S
            return machine.failed(rollout, "no replica of the candidate became ready", now) if is_late else rollout
        elif now - self._ready_at.setdefault(rollout.id, now) > LOST_S:
            return machine.failed(rollout, f"no replica of the candidate was ready for {LOST_S:g} s", now)
        if rollout.stage.kind is StageKind.SMOKE:
            problems = [problem for one in ready if (problem := await self._fleet.smoke_problem(one)) is not None]
            why = problems[0] if problems else f"{', '.join(one.id for one in ready)} answered"
            return machine.checked(rollout, passed=not problems, why=why, now=now)
        if rollout.stage.kind is StageKind.GOLDEN and rollout.golden is not None and ready:
            passed, why = await self._fleet.golden_answers(ready[0], rollout.golden)
            return machine.checked(rollout, passed=passed, why=why, now=now)
        if rollout.stage.kind is StageKind.PARITY:
            problem = await self._fleet.parity_problem(rollout.candidate)
            return machine.checked(rollout, passed=problem is None, why=problem or "", now=now)
        return rollout

    def _ready(self, pools: Container[str]) -> list[Replica]:
        """Of these, the replicas that every worker sees ready."""
        views = self._fleet.views()
        seen = [{one.id for one in view.fleet.replicas if one.health is Health.READY} for view in views]
        return [
            replica
            for replica in self._fleet.replicas()
            if replica.pool in pools and seen and all(replica.id in one for one in seen)
        ]

    def _groups(self, rollout: Rollout) -> TrialGroups:
        """What is compared at the same load now."""
        if not rollout.has_control or rollout.is_ended:
            return NO_GROUPS
        return trial_groups(share_of(rollout), self._ready(rollout.candidate), self._ready(rollout.baseline))

    def _tell(self, rollouts: Iterable[Rollout]) -> None:
        """The workers get another share as soon as it is one."""
        splits = dict(self._splits)
        pools = {one.pool for one in self._fleet.replicas()}
        for rollout in rollouts:
            meters.note(rollout)
            splits.pop(rollout.model, None)
            if has_both_sides(rollout, pools):
                splits[rollout.model] = split_of(rollout, self._groups(rollout))
        if splits != self._splits:
            self._splits = splits
            self._fleet.publish(splits)


def splits_of(stored: Sequence[StoredRollout], pools: Container[str]) -> dict[str, RolloutSplit]:
    """By model, as workers begin with it. Of a model the latest rollout has the say, also when it has ended."""
    latest = {one.model: _decode(one.document) for one in sorted(stored, key=lambda one: one.began_at)}
    return {model: split_of(rollout) for model, rollout in latest.items() if has_both_sides(rollout, pools)}


def has_both_sides(rollout: Rollout, pools: Container[str]) -> bool:
    """Whether there is still something to share out: an operator who has removed one side is done with it."""
    return any(pool in pools for pool in rollout.candidate) and any(pool in pools for pool in rollout.baseline)


def _stored(rollout: Rollout, revision: int) -> StoredRollout:
    return StoredRollout(
        id=rollout.id,
        model=rollout.model,
        revision=revision,
        began_at=rollout.began_at,
        is_ended=rollout.is_ended,
        document=msgspec.json.encode(rollout).decode(),
    )
