"""A reload of all gateways, step by step."""

from heterodyne.supervisor.gateways import reload_rule
from heterodyne.supervisor.gateways.reload_rule import (
    TAKE_S,
    FleetReloadState,
    MemberStep,
    ReloadMember,
    ReloadPhase,
)

PREPARE_S = 30.0


def proposal(last: FleetReloadState | None = None, version: str = "new", known: int = 0) -> FleetReloadState:
    """Of `a`, with `b`."""
    state = reload_rule.proposed(
        last,
        sender="a",
        version=version,
        parts={},
        before="old",
        prepare_s=PREPARE_S,
        members={"a": "gateway-a", "b": "gateway-b"},
        known=known,
    )
    assert state is not None
    return state


def sure(state: FleetReloadState | None) -> FleetReloadState:
    assert state is not None
    return state


def decided(last: FleetReloadState | None = None, version: str = "new") -> FleetReloadState:
    state = proposal(last, version)
    return sure(reload_rule.ready(state, state.number, "b"))


def test_it_is_decided_by_the_last_yes_and_ends_when_all_have_taken_it() -> None:
    state = proposal()
    assert (state.phase, state.in_force) == (ReloadPhase.PREPARING, (0, "old"))
    state = sure(reload_rule.ready(state, 1, "b"))
    assert (state.phase, state.in_force) == (ReloadPhase.TAKING, (1, "new"))
    assert state.in_words == "of gateway-a; taking, done by nobody yet"
    state = sure(reload_rule.taken(sure(reload_rule.taken(state, 1, "a")), 1, "b"))
    assert state.phase is ReloadPhase.TAKEN


def test_one_no_ends_it_with_the_name_of_who_said_it() -> None:
    state = sure(reload_rule.refused(proposal(), 1, "b", "no such pool"))
    assert (state.phase, state.problem) == (ReloadPhase.REFUSED, "gateway-b: no such pool")
    assert reload_rule.ready(state, 1, "b") is None, "it has ended"


def test_a_yes_binds_and_what_is_said_twice_or_late_or_by_a_stranger_changes_nothing() -> None:
    state = proposal()
    assert reload_rule.refused(state, 1, "a", "after all not") is None
    for change in (reload_rule.ready, reload_rule.taken):
        assert change(state, 1, "a") is None
        assert change(state, 2, "b") is None
        assert change(state, 1, "stranger") is None
    assert reload_rule.failed(state, 1, "b", "not yet decided") is None
    assert reload_rule.overdue(sure(reload_rule.overdue(state, 1)), 1) is None


def test_one_at_a_time() -> None:
    again = reload_rule.proposed(
        proposal(), sender="b", version="x", parts={}, before="old", prepare_s=1.0, members={"b": "gateway-b"}
    )
    assert again is None


def test_who_does_not_answer_is_named_and_who_has_not_taken_it_too() -> None:
    state = sure(reload_rule.overdue(proposal(), 1))
    assert (state.phase, state.problem) == (ReloadPhase.REFUSED, "gateway-b did not answer within 30 s")
    state = sure(reload_rule.overdue(sure(reload_rule.taken(decided(), 1, "a")), 1))
    assert (state.phase, state.in_force) == (ReloadPhase.TAKEN, (1, "new"))
    assert state.problem == "gateway-b has not said within 15 s that it has taken it"


def test_what_was_undone_while_a_gateway_was_away_it_undoes_although_another_was_proposed_meanwhile() -> None:
    first = decided()
    away = ReloadMember("b")
    assert away.step(first, 0.0) is MemberStep.TAKE
    away.took(1)
    undone = sure(reload_rule.failed(first, 1, "a", "a worker is stuck"))
    assert undone.in_force == (0, "old")
    later = proposal(undone, "newer")
    assert away.step(later, 1.0) is MemberStep.UNDO
    away.undid()
    assert away.step(later, 1.0) is MemberStep.PREPARE


def test_what_was_taken_while_a_gateway_was_away_it_takes_although_another_was_refused_meanwhile() -> None:
    held = sure(reload_rule.overdue(decided(), 1))
    refused = sure(reload_rule.refused(proposal(held, "newer"), 2, "b", "no"))
    assert refused.in_force == (1, "new")
    away = ReloadMember("c")
    assert away.step(refused, 0.0) is MemberStep.TAKE
    away.took(1)
    assert away.step(refused, 0.0) is MemberStep.WAIT


def test_a_phase_is_closed_by_whoever_has_seen_it_for_too_long() -> None:
    state, member = proposal(), ReloadMember("a")
    assert member.step(state, 100.0) is MemberStep.WAIT
    assert member.step(state, 100.0 + PREPARE_S) is MemberStep.CLOSE
    taking = decided()
    assert member.step(taking, 200.0) is MemberStep.TAKE
    member.took(1)
    assert member.step(taking, 200.0) is MemberStep.TELL
    told = sure(reload_rule.taken(taking, 1, "a"))
    assert member.step(told, 200.0) is MemberStep.WAIT
    assert member.step(told, 200.0 + TAKE_S) is MemberStep.CLOSE


def test_numbers_go_on_where_the_database_has_lost_them() -> None:
    assert proposal(None, known=7).number == 8


def test_a_problem_is_bounded() -> None:
    state = sure(reload_rule.refused(proposal(), 1, "b", "x" * 10_000))
    assert len(state.problem) == reload_rule.PROBLEM_CHARS_MAX
