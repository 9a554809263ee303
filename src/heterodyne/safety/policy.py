"""Which guards look at whose requests: the operator's policies, gathered for one project and one model."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct, structs

from heterodyne.domain.guard_verdict import Action, Direction
from heterodyne.domain.named_scope import holds_for
from heterodyne.safety.finding import Finding
from heterodyne.safety.glance import Glance
from heterodyne.safety.prompt_leak import PROMPTS_MAX
from heterodyne.safety.registry import SCHEMA, SYSTEM_PROMPT, Look, Settle, guard_named
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.structure.expected import ANYTHING
from heterodyne.safety.structure.inspector import Inspector

PLANS_MAX: Final = 4096  # projects times models that are remembered; beyond it all are found anew


class GuardRule(Struct, frozen=True, kw_only=True):
    """One policy, ready to look."""

    policy: str
    settings: GuardSettings
    version: str
    look_at: Look
    settle: Settle | None
    far: Look | None  # those of its findings that may be long; None: to look for all of them is as quick
    skipped_roles: frozenset[str]
    direction: str
    timeout_s: float = 0.0  # of a guard that is asked elsewhere; 0: it looks here
    inspector: Inspector | None = None  # it looks at how things are made; None: at words
    is_heavy: bool = False  # it looks beside the worker alone

    @property
    def action(self) -> Action:
        return self.settings.action

    def look(self, text: str) -> Collection[Finding]:
        """What it finds in a text that nobody else looks at."""
        return self.look_at(Glance(text))

    @property
    def is_in_stream(self) -> bool:
        """Whether it looks at the words of an answer as they come."""
        return self.inspector is None and not self.is_heavy

    @property
    def passes_unseen(self) -> bool:
        """Whether texts go on that a guard elsewhere has given no verdict on."""
        return (self.settings.on_failure or ("refuse" if self.action == "block" else "pass")) == "pass"


class GuardPlan(Struct, frozen=True):
    """What looks at one project's requests to one model, and at their answers."""

    input: tuple[GuardRule, ...]
    output: tuple[GuardRule, ...]
    remote_input: tuple[GuardRule, ...] = ()  # of guards that are asked elsewhere
    remote_output: tuple[GuardRule, ...] = ()
    expected: bytes = ANYTHING  # of one request: what it lets its answer be, for rules that look at that

    def remote(self, direction: Direction) -> tuple[GuardRule, ...]:
        """Those that are asked on one of the ways."""
        return self.remote_input if direction == "input" else self.remote_output


class GuardPolicy:
    """All policies. One per worker, made anew when the settings change."""

    def __init__(self, settings: Mapping[str, GuardSettings]) -> None:
        self._rules = tuple(rule_of(name, one) for name, one in settings.items())
        self._plans: dict[tuple[str, str, str], GuardPlan | None] = {}
        self.is_empty = not self._rules

    def plan(self, project: str, asked_model: str, model: str) -> GuardPlan | None:
        """None where no guard looks; `asked_model` is the name the client used."""
        key = (project, asked_model, model)
        try:
            return self._plans[key]
        except KeyError:
            pass
        if len(self._plans) >= PLANS_MAX:
            self._plans.clear()
        plan = self._plans[key] = self._made(key)
        return plan

    def _made(self, key: tuple[str, str, str]) -> GuardPlan | None:
        project, *models = key
        rules = [
            rule
            for rule in self._rules
            if holds_for(rule.settings.projects, rule.settings.models, project=project, names=models)
        ]
        here = [rule for rule in rules if not rule.timeout_s]
        elsewhere = [rule for rule in rules if rule.timeout_s]
        plan = GuardPlan(
            _looking(here, "input"),
            _looking(here, "output"),
            _looking(elsewhere, "input"),
            _looking(elsewhere, "output"),
        )
        return plan if rules else None


def only_flag(rules: Sequence[GuardRule]) -> bool:
    """Whether nothing that the rules find is changed or blocked."""
    return all(rule.action == "flag" for rule in rules)


def split(rules: Sequence[GuardRule]) -> tuple[Sequence[GuardRule], Sequence[GuardRule]]:
    """Those that look at words, and those that look at how things are made."""
    if all(rule.inspector is None for rule in rules):
        return rules, ()
    return [rule for rule in rules if rule.inspector is None], [rule for rule in rules if rule.inspector is not None]


def knowing(plan: GuardPlan, runs: tuple[str, ...]) -> GuardPlan:
    """The same for one request, whose answer may not tell these words in a row."""
    return structs.replace(
        plan,
        output=tuple(
            _knowing(rule.policy, structs.replace(rule.settings, words=runs))
            if rule.settings.guard == SYSTEM_PROMPT
            else rule
            for rule in plan.output
        ),
    )


@lru_cache(maxsize=PROMPTS_MAX)
def _knowing(name: str, settings: GuardSettings) -> GuardRule:
    return rule_of(name, settings)


def rule_of(name: str, settings: GuardSettings) -> GuardRule:
    """A policy by its settings; raises UnknownName and InvalidSpec."""
    guard = guard_named(settings.guard)
    finder = guard.make(settings)
    return GuardRule(
        policy=name,
        settings=settings,
        version=guard.version,
        look_at=finder.look,
        settle=finder.settle,
        far=finder.far,
        skipped_roles=guard.skipped_roles,
        direction=guard.direction
        if settings.guard in (SYSTEM_PROMPT, SCHEMA)
        else settings.direction or guard.direction,
        timeout_s=(settings.timeout_ms or guard.timeout_ms) / 1000 if guard.timeout_ms else 0.0,
        inspector=finder.inspector,
        is_heavy=guard.is_heavy,
    )


def _looking(rules: list[GuardRule], direction: Direction) -> tuple[GuardRule, ...]:
    return tuple(rule for rule in rules if _looks(rule, direction))


def _looks(rule: GuardRule, direction: Direction) -> bool:
    inspector = rule.inspector
    if inspector is None:
        return rule.direction in (direction, "both")
    if direction == "input" and inspector.reads_requests:
        return True  # for what an answer may be
    return rule.direction in (direction, "both") and inspector.looks_at(direction)
