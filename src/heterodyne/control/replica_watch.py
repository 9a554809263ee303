"""What is known of one replica, look after look. It waits for nothing: looks and times come in."""

import msgspec

from heterodyne.control import problems
from heterodyne.control.prober import ProbeResult
from heterodyne.control.problems import ProblemKind, ReplicaProblem
from heterodyne.control.readings import (
    Stillness,
    adapters_listed,
    adapters_of,
    find_model,
    follow,
    frozen_for_s,
    has_restarted,
)
from heterodyne.control.replica_seen import ReplicaSeen
from heterodyne.domain.engine_load import EngineLoad, ServedModel
from heterodyne.domain.fleet import Health, Replica

FAILURES_MAX = 2  # of a ready replica in a row; one lost look at a busy engine is not a verdict
MODELS_INTERVAL_S = 60.0
GRACE_S = 10.0  # engines take their time to start; until then it is no problem


class ReplicaWatch:
    """Owned by the fleet's watch; `seen` is the replica to publish."""

    __slots__ = (
        "_adapters_listed",
        "_adapters_listed_at_s",
        "_health_since_s",
        "_last",
        "_load",
        "_load_at_s",
        "_models",
        "_models_at_s",
        "_place",
        "_problems",
        "_stillness",
        "configured",
        "failures",
        "has_fallback",
        "health",
        "is_warm",
        "restarts",
        "seen",
    )

    def __init__(self, replica: Replica, place: str, now_s: float) -> None:
        self.configured = replica
        self.seen = replica
        self.health = replica.health
        self.failures = 0  # looks in a row that found it not ready
        self.restarts = 0
        self.has_fallback = False
        self.is_warm = not self._wants_warm_up  # it has answered what it is asked before users are
        self._place = place
        self._health_since_s = now_s
        self._last: ProbeResult | None = None
        self._load: EngineLoad | None = None
        self._load_at_s: float | None = None
        self._models: tuple[ServedModel, ...] | None = None
        self._models_at_s: float | None = None
        self._adapters_listed: tuple[str, ...] = ()
        self._adapters_listed_at_s: float | None = None
        self._stillness: Stillness | None = None
        self._problems: dict[ProblemKind, ReplicaProblem] = {}

    @property
    def problems(self) -> tuple[ReplicaProblem, ...]:
        return tuple(self._problems.values())

    @property
    def _wants_warm_up(self) -> bool:
        return self.configured.warm_up is not None or self.configured.kv_warm_up is not None

    def wants_models(self, now_s: float) -> bool:
        """Whether the next look should read its model list."""
        return self.health is not Health.READY or self._models_at_s is None or self._is_old(now_s)

    def configure(self, replica: Replica) -> None:
        """Other words of the operator about the same engine."""
        self.configured = replica
        self._see()

    def take(self, probe: ProbeResult, answers: int) -> bool:
        """Learn from a look; whether the engine has restarted. `answers` is how many this worker got from it."""
        self._last = probe
        has_restarted_now = False
        if probe.is_ready:
            self.failures = 0
            self._take_models(probe)
            has_restarted_now = self._take_load(probe, answers)
            self._note(ProblemKind.NOT_READY, None)
            self._turn(self._health(), probe.at_s)
        else:
            self._fail(probe)
        self._see()
        return has_restarted_now

    def snapshot(self, now_s: float) -> ReplicaSeen:
        """Everything at once."""
        replica, last = self.seen, self._last
        return ReplicaSeen(
            id=replica.id,
            pool=replica.pool,
            model=replica.model,
            engine=replica.engine,
            url=problems.url_of(replica),
            health=self.health,
            health_for_s=now_s - self._health_since_s,
            is_draining=replica.is_draining,
            looked_ago_s=None if last is None else now_s - last.at_s,
            probe_ms=None if last is None else last.took_s * 1000,
            error=None if last is None else last.error,
            context_tokens=replica.context_tokens,
            adapters=tuple(replica.adapters),
            serves=tuple(model.name for model in self._models or ()),
            load=self._load,
            load_age_s=None if self._load_at_s is None else now_s - self._load_at_s,
            restarts=self.restarts,
            problems=self.problems,
        )

    def _fail(self, probe: ProbeResult) -> None:
        self.failures += 1
        self.has_fallback = False
        if self.health is Health.READY and self.failures >= FAILURES_MAX:
            self._turn(Health.DOWN, probe.at_s)
        if self.health is Health.DOWN or probe.at_s - self._health_since_s >= GRACE_S:
            self._note(ProblemKind.NOT_READY, problems.not_ready(self._place, self.configured, probe.error or ""))

    def _health(self) -> Health:
        """Of one that says that it is ready."""
        if ProblemKind.WRONG_MODEL in self._problems:
            return Health.DOWN
        return Health.READY if self.is_warm else Health.STARTING

    def _turn(self, health: Health, now_s: float) -> None:
        if health is not self.health:
            self.health = health
            self._health_since_s = now_s

    def _take_models(self, probe: ProbeResult) -> None:
        if probe.models_error is not None:
            # It is asked again in a minute; until then its last answer holds.
            self._models_at_s = probe.at_s
            self._note(ProblemKind.MODELS_UNREAD, problems.models_unread(self._place, probe.models_error))
            return
        if probe.models is None:
            return
        self._models, self._models_at_s = probe.models, probe.at_s
        self._adapters_listed, self._adapters_listed_at_s = adapters_listed(probe.models), probe.at_s
        wanted = self.configured.engine_model or self.configured.model
        found = find_model(probe.models, wanted)
        self._note(ProblemKind.MODELS_UNREAD, None)
        self._note(
            ProblemKind.WRONG_MODEL,
            problems.wrong_model(self._place, wanted, probe.models) if found is None else None,
        )

    def _take_load(self, probe: ProbeResult, answers: int) -> bool:
        self.has_fallback = probe.has_fallback
        self._note(
            ProblemKind.LOAD_UNREAD,
            problems.load_unread(self._place, probe.load_error) if probe.load_error is not None else None,
        )
        if probe.load is None:
            return False
        before, self._load, self._load_at_s = self._load, probe.load, probe.load_at_s
        is_new = before is not None and has_restarted(before, probe.load)
        if is_new:
            self.restarts += 1
            self._models_at_s = None  # it may have come back with another model
            self.is_warm = not self._wants_warm_up
            self._stillness = None
        self._stillness = follow(self._stillness, probe.load, probe.at_s, answers)
        frozen_s = frozen_for_s(self._stillness, probe.at_s, answers)
        self._note(
            ProblemKind.LOAD_FROZEN, problems.load_frozen(self._place, frozen_s) if frozen_s is not None else None
        )
        return is_new

    def _see(self) -> None:
        configured = self.configured
        reported = self._reported_context_tokens()
        is_short = (
            configured.context_tokens is not None and reported is not None and reported < configured.context_tokens
        )
        self._note(
            ProblemKind.CONTEXT_SHORT,
            problems.context_short(self._place, configured.context_tokens or 0, reported or 0) if is_short else None,
        )
        self.seen = msgspec.structs.replace(
            configured,
            health=self.health,
            load=self._load,
            load_at_s=self._load_at_s,
            context_tokens=reported if configured.context_tokens is None else configured.context_tokens,
            adapters=adapters_of(self._adapters_listed, configured.adapters),
            adapters_listed=self._adapters_listed,
            adapters_listed_at_s=self._adapters_listed_at_s,
        )

    def _reported_context_tokens(self) -> int | None:
        wanted = self.configured.engine_model or self.configured.model
        found = find_model(self._models, wanted) if self._models else None
        if found is not None and found.context_tokens is not None:
            return found.context_tokens
        return self._load.context_tokens if self._load is not None else None

    def _note(self, kind: ProblemKind, problem: ReplicaProblem | None) -> None:
        if problem is not None:
            self._problems[kind] = problem
        else:
            self._problems.pop(kind, None)

    def _is_old(self, now_s: float) -> bool:
        assert self._models_at_s is not None
        return now_s - self._models_at_s >= MODELS_INTERVAL_S
