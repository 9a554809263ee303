"""Reloads of all gateways under every order of steps: lost answers, crashes, stores away, files that differ."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.supervisor.gateways import reload_rule
from heterodyne.supervisor.gateways.reload_rule import (
    TAKE_S,
    FleetReloadState,
    MemberStep,
    ReloadMember,
    ReloadPhase,
)
from tests.support.examples import examples

PREPARE_S = 30.0
GATEWAYS = 4
LOOK_S = 1.0
SETTLED_S = PREPARE_S + 2 * TAKE_S  # a reload has ended by then, if the store answers


class Store:
    """One state and its revision; what is taken is never half taken."""

    def __init__(self) -> None:
        self.state: FleetReloadState | None = None
        self.revision = 0
        self.promised: dict[int, set[str]] = {}  # who had said yes when it was decided

    def replace(self, state: FleetReloadState, revision: int) -> bool:
        if revision != self.revision:
            return False
        if state.is_decided:
            self.promised.setdefault(state.number, set(state.ready))
            assert set(state.ready) == set(state.members), "decided before all were ready"
        if self.state is not None and self.state.number == state.number:
            is_over = self.state.phase in (ReloadPhase.REFUSED, ReloadPhase.UNDONE, ReloadPhase.TAKEN)
            assert not is_over, "what has ended has ended"
        self.state, self.revision = state, self.revision + 1
        return True


class Gateway:
    """What ReloadWatch does with the rule, one call of the store at a time."""

    def __init__(self, world: "World", machine: str, name: str) -> None:
        self.world = world
        self.machine = machine
        self.name = name  # of this process among all that ever were
        self.works_by = world.files[machine]
        self.before = self.works_by
        self.prepared: tuple[int, str] | None = None
        self.member = ReloadMember(name)
        self.can_take = True
        self.is_cut_off = False
        self.read: tuple[FleetReloadState, int] | None = None  # what it acts on may be old by then

    def look(self) -> None:
        store = self.world.store
        if not self.is_cut_off and store.state is not None:
            self.read = (store.state, store.revision)

    def act(self) -> None:
        if self.read is None or self.is_cut_off:
            return
        (state, revision), self.read = self.read, None
        number, me = state.number, self.name
        match self.member.step(state, self.world.now_s):
            case MemberStep.PREPARE:
                version = self.world.files[self.machine]
                if version == state.version:
                    self.prepared = (number, version)
                    self.write(reload_rule.ready(state, number, me), revision)
                else:
                    self.write(reload_rule.refused(state, number, me, "its file differs"), revision)
            case MemberStep.TAKE:
                self.take(state, revision)
            case MemberStep.TELL:
                self.write(reload_rule.taken(state, number, me), revision)
            case MemberStep.UNDO:
                self.works_by = self.before
                self.member.undid()
            case MemberStep.CLOSE:
                self.write(reload_rule.overdue(state, number), revision)

    def take(self, state: FleetReloadState, revision: int) -> None:
        number, version = state.in_force
        has_it = self.prepared == (number, version)
        if not has_it and (self.works_by == version or self.world.files[self.machine] != version):
            self.member.gave_up(number)
            return
        if not self.can_take:
            if self.name in state.members and state.phase is ReloadPhase.TAKING:
                self.write(reload_rule.failed(state, number, self.name, "a worker is stuck"), revision)
            else:
                self.member.gave_up(number)
            return
        assert number in self.world.store.promised, "taken before it was decided"
        self.before, self.works_by = self.works_by, version
        self.member.took(number)

    def propose(self) -> None:
        store, version = self.world.store, self.world.files[self.machine]
        if self.is_cut_off:
            return
        state = reload_rule.proposed(
            store.state,
            sender=self.name,
            version=version,
            parts={},
            before=self.works_by,
            prepare_s=PREPARE_S,
            members={one.name: one.name for one in self.world.alive() if not one.is_cut_off},
            known=self.member.done,
        )
        if state is not None and store.replace(state, store.revision):
            self.prepared = (state.number, version)

    def write(self, state: FleetReloadState | None, revision: int) -> None:
        if state is not None:
            self.world.store.replace(state, revision)


class World:
    """All of them, with a clock."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.store = Store()
        self.files = {f"g{number}": "v0" for number in range(GATEWAYS)}
        self.gateways: dict[str, Gateway | None] = {name: Gateway(self, name, name) for name in self.files}
        self.versions = 0
        self.born = 0

    def alive(self) -> list[Gateway]:
        return [one for one in self.gateways.values() if one is not None]

    def settle(self) -> None:
        """Everything works again for as long as a reload may last."""
        for one in self.alive():
            one.is_cut_off, one.can_take = False, True
        until_s = self.now_s + SETTLED_S
        while self.now_s < until_s:
            self.second()

    def second(self) -> None:
        """All look once."""
        self.now_s += LOOK_S
        for one in self.alive():
            for _ in range(GATEWAYS):
                one.look()
                one.act()


def _new_file(world: World, _: str) -> None:
    """Config management puts the same file everywhere."""
    world.versions += 1
    for one in world.files:
        world.files[one] = f"v{world.versions}"


def _other_file(world: World, name: str) -> None:
    world.files[name] = f"{name}-alone"


def _crash(world: World, name: str) -> None:
    world.gateways[name] = None


def _start(world: World, name: str) -> None:
    if world.gateways[name] is None:
        world.born += 1
        world.gateways[name] = Gateway(world, name, f"{name} again {world.born}")


def _each(act: Callable[[Gateway], None]) -> Callable[[World, str], None]:
    def acted(world: World, name: str) -> None:
        gateway = world.gateways[name]
        if gateway is not None:
            act(gateway)

    return acted


def _passes(seconds: float) -> Callable[[World, str], None]:
    def passed(world: World, _: str) -> None:
        world.now_s += seconds

    return passed


def _cut(gateway: Gateway) -> None:
    gateway.is_cut_off = not gateway.is_cut_off


def _break(gateway: Gateway) -> None:
    gateway.can_take = not gateway.can_take


EVENTS: dict[str, Callable[[World, str], None]] = {
    "new file": _new_file,
    "other file": _other_file,
    "propose": _each(Gateway.propose),
    "look": _each(Gateway.look),
    "act": _each(Gateway.act),
    "crash": _crash,
    "start": _start,
    "cut off": _each(_cut),
    "break": _each(_break),
    "a second": _passes(1.0),
    "take time": _passes(TAKE_S),
    "prepare time": _passes(PREPARE_S),
}
OFTEN = ("look", "act") * 6
STEPS = st.lists(
    st.tuples(st.sampled_from((*EVENTS, *OFTEN, "propose", "new file")), st.integers(0, GATEWAYS - 1)), max_size=120
)


@given(STEPS)
@settings(max_examples=examples(300), deadline=None)
def test_gateways_that_follow_end_on_one_version_whatever_happened(steps: list[tuple[str, int]]) -> None:
    world = World()
    for event, number in steps:
        EVENTS[event](world, f"g{number}")
    world.settle()
    state = world.store.state
    assert state is None or not state.is_open
    number, version = (0, "") if state is None else state.in_force
    for one in world.alive():
        assert one.member.taken <= number, "what was undone is undone everywhere"
        assert one.member.done >= number, "nobody is behind"
        if one.member.taken == number > 0:
            assert one.works_by == version


@given(STEPS)
@settings(max_examples=examples(100), deadline=None)
def test_after_all_that_the_next_reload_is_taken_by_all_within_two_looks_of_being_decided(
    steps: list[tuple[str, int]],
) -> None:
    world = World()
    for event, number in steps:
        EVENTS[event](world, f"g{number}")
    world.settle()
    for name in world.files:
        _start(world, name)
    _new_file(world, "")
    world.alive()[0].propose()
    decided_at_s = None
    while decided_at_s is None or world.now_s < decided_at_s + 2 * LOOK_S:
        world.second()
        assert world.store.state is not None
        if decided_at_s is None and world.store.state.is_decided:
            decided_at_s = world.now_s
        assert world.store.state.phase is not ReloadPhase.REFUSED
    assert {one.works_by for one in world.alive()} == {f"v{world.versions}"}
    assert world.store.state.phase is ReloadPhase.TAKEN


@given(STEPS, st.integers(0, GATEWAYS - 1))
@settings(max_examples=examples(100), deadline=None)
def test_where_one_cannot_take_it_all_go_back_to_what_they_had(steps: list[tuple[str, int]], broken: int) -> None:
    world = World()
    for event, number in steps:
        EVENTS[event](world, f"g{number}")
    world.settle()
    for name in world.files:
        _start(world, name)
    world.settle()
    had = {one.name: one.works_by for one in world.alive()}
    _new_file(world, "")
    world.alive()[0].propose()
    world.alive()[broken].can_take = False
    for _ in range(5):
        world.second()
    assert world.store.state is not None
    assert world.store.state.phase is ReloadPhase.UNDONE
    assert world.store.state.problem == f"{world.alive()[broken].name}: a worker is stuck"
    assert {one.name: one.works_by for one in world.alive()} == had
