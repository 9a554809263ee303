"""The autoscaler over a fleet that serves: looks every few seconds, decides by the pure code, and carries it out.

Steps are written down, and what is not carried out, or is a hold, when it is another than the last. A driver that
refuses, is away, or changes the same pool for somebody else leaves the fleet as it is; the next look decides by what it
finds. Of several gateways each decides, and the one that leads acts.
"""

import asyncio
import time
from collections.abc import Callable, Iterable

from heterodyne.config.settings import Settings
from heterodyne.console.scaling.pages import (
    DecisionRow,
    ModelNowRow,
    Paused,
    ScalingPage,
    ShortCause,
    StepRow,
)
from heterodyne.domain.fleet import PoolName, Wake
from heterodyne.domain.nearest import unknown_name
from heterodyne.fleet.pool_scaling import PoolScaling
from heterodyne.fleet.scaling_settings import ScalingSettings
from heterodyne.planning.scaling.action import ActionKind
from heterodyne.planning.scaling.autoscaler import ScalingDecision, scale
from heterodyne.planning.scaling.hardware_choice import most_carried
from heterodyne.planning.scaling.state import ScalingState
from heterodyne.supervisor.scaling import meters
from heterodyne.supervisor.scaling.latest import Latest, pool_row, told_wait_s, wake_of
from heterodyne.supervisor.scaling.memory import ScalingMemory
from heterodyne.supervisor.scaling.observer import Elsewhere, ModelObserver
from heterodyne.supervisor.scaling.rules import scaled_pools, scaling_rules
from heterodyne.supervisor.scaling.scaled_fleet import ScaledFleet
from heterodyne.supervisor.scaling.shared import SharedScaling
from heterodyne.supervisor.scaling.shortage import Hindrance, Standing, short_of
from heterodyne.telemetry import log

TICK_S = 0.25  # between two looks at whether a request is held
SAVE_INTERVAL_S = 60.0
WAKE_STEP_S, SPREAD_STEP = 0.5, 0.01
YIELD_S = 300.0  # for so long a pool is left to another scaler that was seen at it
ACT = "act"
OFF = "off"

_log = log.get("assembly")


class Autoscaler:
    """One per supervisor."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        fleet: ScaledFleet,
        memory: ScalingMemory,
        shared: SharedScaling,
        *,
        wall_clock: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._fleet = fleet
        self._memory = memory
        self._shared = shared
        self._wall_clock = wall_clock
        self._clock = clock  # that workers go by
        self._observers: dict[str, ModelObserver] = {}
        self._latest: dict[str, Latest] = {}
        self._yields: dict[str, tuple[float, str]] = {}  # by model, until when and to whom
        self._said: dict[str, tuple[StepRow, ...]] = {}
        self._away_since_s: dict[PoolName, float] = {}
        self._held: set[str] = set()
        self._wakes: dict[str, Wake] = {}  # as the workers have them

    async def run(self) -> None:
        """Until cancelled."""
        looks_at_s = saves_at_s = self._wall_clock()
        saves_at_s += SAVE_INTERVAL_S
        try:
            while True:
                now_s = self._wall_clock()
                self._shared.follow(self._settings().autoscaling.drain_timeout_s)
                if now_s >= looks_at_s or self._is_woken():
                    await self.look(now_s)
                    looks_at_s = now_s + self._settings().autoscaling.interval_s
                if now_s >= saves_at_s:
                    saves_at_s = now_s + SAVE_INTERVAL_S
                    await asyncio.to_thread(self._memory.save)
                await asyncio.sleep(TICK_S)
        finally:
            self._memory.save()

    async def look(self, now_s: float) -> None:
        """Once, at every model."""
        settings = self._settings()
        models = {} if settings.autoscaling.mode == OFF else scaled_pools(settings)
        for gone in self._observers.keys() - models.keys():
            del self._observers[gone]
            latest = self._latest.pop(gone, None)
            meters.forget(gone, () if latest is None else (one.pool for one in latest.rules.pools))
            self._said.pop(gone, None)
        for model, tables in models.items():
            await self._look_at(model, tables, settings, now_s)
        self._note_away((pool for tables in models.values() for pool in tables), now_s)
        self._tell_wakes(settings)
        meters.note(self.page(None, 0))

    def page(self, model: str | None, most: int) -> ScalingPage:
        """What stands now, and the latest decisions."""
        settings = self._settings()
        models = scaled_pools(settings)
        if model is not None and model not in models:
            raise unknown_name("model that grows and shrinks", model, models)
        decisions = [one for one in reversed(self._memory.decisions) if model in {None, one.model}]
        return ScalingPage(
            mode=settings.autoscaling.mode,
            leader=self._shared.leader(),
            apart=self._shared.unknown(),
            models=tuple(
                self._row(name, self._latest[name], settings)
                for name in models
                if name in self._latest and model in {None, name}
            ),
            decisions=tuple(decisions[:most]),
        )

    def pause(self, model: str | None, *, is_paused: bool) -> Paused:
        """Whether anything is carried out, of one model or of all."""
        models = scaled_pools(self._settings())
        if model is not None and model not in models:
            raise unknown_name("model that grows and shrinks", model, models)
        self._shared.pause(models if model is None else (model,), is_paused=is_paused)
        self._memory.save()
        return Paused(paused=tuple(sorted(self._memory.paused)))

    def _tell_wakes(self, settings: Settings) -> None:
        """Models that may have no replica, with when the first is expected."""
        acts = settings.autoscaling.mode == ACT
        wakes = {
            model: wake_of(latest, self._wall_clock(), self._clock())
            for model, latest in self._latest.items()
            if acts and model not in self._memory.paused and not any(one.minimum for one in latest.rules.pools)
        }
        known = self._wakes
        if wakes.keys() != known.keys() or any(_differ(wake, known[model]) for model, wake in wakes.items()):
            self._wakes = wakes
            self._fleet.take_wakes(wakes)

    def _is_woken(self) -> bool:
        """Whether a request has begun to be held since the last look."""
        held = {model for view in self._fleet.views() for model, demand in view.demand.items() if demand.held}
        held |= self._shared.held_models()
        before, self._held = self._held, held
        return bool(held - before)

    async def _look_at(self, model: str, tables: dict[PoolName, PoolScaling], settings: Settings, now_s: float) -> None:
        speed, elsewhere = settings.autoscaling.speed, Elsewhere()
        if self._shared.is_shared(tables):
            if self._shared.unknown():
                return  # what comes meanwhile counts as soon as it is known
            elsewhere = Elsewhere(demand=self._shared.demand(model), in_flight=self._shared.in_flight())
        rules = scaling_rules(settings, tables, self._fleet.pictures(), self._fleet.driven.pools())
        observer = self._observers.setdefault(model, ModelObserver(model))
        members = self._fleet.members(tuple(tables), speed)
        seen = observer.observe(now_s * speed, self._fleet.views(), members, elsewhere)
        decision = scale(rules, self._memory.states.get(model, ScalingState()), seen)
        self._memory.states[model] = decision.state
        self._latest[model] = Latest(seen=seen, rules=rules, decision=decision, speed=speed)
        self._yield_to_others(model, tables, now_s)
        steps = []
        for action in decision.actions:
            outcome = ""
            if action.kind is not ActionKind.HOLD:
                outcome = self._why_idle(model, settings, now_s, action.kind)  # before each, as leadership ends
                outcome = outcome or await self._fleet.carry_out(action, seen, settings.autoscaling.drain_timeout_s)
            steps.append(
                StepRow(
                    kind=action.kind,
                    pool=action.pool,
                    count=action.count or len(action.replicas),
                    replicas=action.replicas,
                    reason=action.reason,
                    because=action.because,
                    otherwise=action.otherwise,
                    outcome=outcome,
                )
            )
        self._write_down(model, tuple(steps), decision, settings.autoscaling)

    def _why_idle(self, model: str, settings: Settings, now_s: float, kind: ActionKind) -> str:
        """Why a step is not carried out; empty: it is."""
        hindrance = self._hindrance(model, settings, now_s)
        if hindrance is not None:
            return hindrance.because
        is_kept = kind is ActionKind.DRAIN and self._shared.is_shared(scaled_pools(settings).get(model, ()))
        return self._shared.why_kept() if is_kept else ""

    def _hindrance(self, model: str, settings: Settings, now_s: float) -> Hindrance | None:
        """None: steps are carried out."""
        if settings.autoscaling.mode != ACT:
            return Hindrance(cause=ShortCause.MODE, because=f'autoscaling.mode is "{settings.autoscaling.mode}"')
        if model in self._memory.paused:
            return Hindrance(cause=ShortCause.PAUSED, because="an operator has paused it")
        until_s, whom = self._yields.get(model, (0.0, ""))
        if now_s < until_s:
            return Hindrance(cause=ShortCause.OTHER_SCALER, because=whom)
        is_shared = self._shared.is_shared(scaled_pools(settings).get(model, ()))
        why_idle = self._shared.why_idle() if is_shared else ""
        return Hindrance(cause=ShortCause.GATEWAY, because=why_idle) if why_idle else None

    def _note_away(self, pools: Iterable[PoolName], now_s: float) -> None:
        """Since when the drivers that do not answer have not."""
        away = [pool for pool in pools if self._fleet.driven.problem_of(pool) is not None]
        self._away_since_s = {pool: self._away_since_s.get(pool, now_s) for pool in away}

    def _yield_to_others(self, model: str, tables: dict[PoolName, PoolScaling], now_s: float) -> None:
        """Another that changes the same pool is left alone with it for a while: two would undo each other's steps."""
        for pool in tables:
            whom = self._fleet.driven.conflicts.pop(pool, None)
            if whom is not None:
                self._yields[model] = (now_s + YIELD_S, whom)
                _log.warning("scaler_yields", model=model, pool=pool, to=whom, for_s=YIELD_S)

    def _write_down(
        self, model: str, steps: tuple[StepRow, ...], decision: ScalingDecision, settings: ScalingSettings
    ) -> None:
        speed = settings.speed
        is_carried_out = any(one.kind is not ActionKind.HOLD and not one.outcome for one in steps)
        if not is_carried_out and _kind_of(steps) == _kind_of(self._said.get(model, ())):
            return
        self._said[model] = steps
        self._memory.decisions.append(
            DecisionRow(
                at=decision.at_s / speed,
                model=model,
                is_dry_run=settings.mode != ACT,
                needed=decision.need.requests_per_s * speed,
                carried=decision.capacity * speed,
                steps=steps,
            )
        )
        for one in steps:
            meters.count(one)
            _log.info(
                "scaling_decided",
                model=model,
                kind=one.kind.value,
                pool=one.pool,
                count=one.count,
                reason=one.reason.value,
                because=one.because,
                outcome=one.outcome,
            )

    def _row(self, model: str, latest: Latest, settings: Settings) -> ModelNowRow:
        now_s, decision, rules = self._wall_clock(), latest.decision, latest.rules
        until_s, whom = self._yields.get(model, (0.0, ""))
        pools = tuple(
            pool_row(one.pool, latest, self._fleet.driven, now_s, away_since_s=self._away_since_s.get(one.pool))
            for one in rules.pools
        )
        starts = {one.pool: decision.state.starts(rules, one.pool) for one in rules.pools}
        short = short_of(
            Standing(
                model=model,
                rules=rules,
                decision=decision,
                pools=pools,
                said={name: table.maximum for name, table in scaled_pools(settings).get(model, {}).items()},
                hindrance=self._hindrance(model, settings, now_s),
                refusals=tuple(one.outcome for one in self._said.get(model, ()) if one.outcome),
            ),
            speed=latest.speed,
        )
        return ModelNowRow(
            model=model,
            is_paused=model in self._memory.paused,
            needed=decision.need.requests_per_s * latest.speed,
            carried=decision.capacity * latest.speed,
            most=most_carried(rules, starts) * decision.state.trust * latest.speed,
            short=short,
            held=latest.seen.held,
            told_wait_s=told_wait_s(latest, now_s),
            yields=whom if now_s < until_s else None,
            pools=pools,
        )


def _differ(one: Wake, other: Wake) -> bool:
    """By more than it is worth telling every worker."""
    if (one.asked_at_s is None) != (other.asked_at_s is None):
        return True
    later_s = 0.0 if one.asked_at_s is None or other.asked_at_s is None else one.asked_at_s - other.asked_at_s
    return (
        max(abs(later_s), abs(one.start.usual_s - other.start.usual_s)) > WAKE_STEP_S
        or abs(one.start.spread - other.start.spread) > SPREAD_STEP
    )


def _kind_of(steps: tuple[StepRow, ...]) -> tuple[object, ...]:
    """What makes a decision another one: not the figures in its sentences."""
    return tuple((one.kind, one.pool, one.count, one.reason, one.outcome) for one in steps)
