"""The state of alerts: pending, firing, over."""

from heterodyne.alerts.alert import Alert, Finding, Severity
from heterodyne.alerts.desk import CLEAR_S, AlertDesk, Notice, Phase
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import AuditSignals, Signals

SETTINGS = AlertSettings()


def _judge(signals: Signals, _: AlertSettings) -> tuple[Finding, ...] | None:
    """True of every word that the audit log complains with."""
    if signals.audit is None:
        return None
    return tuple(Finding(subject=word, detail="It is.") for word in signals.audit.problem.split())


def an_alert(name: str = "odd", severity: Severity = Severity.TICKET, hold_s: int = 60) -> Alert:
    return Alert(
        name=name,
        severity=severity,
        hold_s=hold_s,
        summary="{subject} is odd.",
        section="odd",
        labels=("model",),
        expression=lambda _: "vector(1)",
        judge=_judge,
    )


def look(desk: AlertDesk, at: float, words: str | None) -> tuple[Notice, ...]:
    audit = None if words is None else AuditSignals(problem=words, failures=0)
    return desk.take(Signals(at=at, audit=audit), SETTINGS)


def phases(notices: tuple[Notice, ...]) -> list[tuple[str, Phase]]:
    return [(one.subject, one.phase) for one in notices]


def test_what_is_true_for_a_moment_is_told_to_nobody() -> None:
    desk = AlertDesk((an_alert(),))
    assert look(desk, 0.0, "a") == ()
    assert look(desk, 59.0, "") == ()
    assert look(desk, 61.0, "a") == ()
    assert desk.firing() == ()


def test_what_holds_long_enough_fires_once_and_says_since_when() -> None:
    desk = AlertDesk((an_alert(),))
    look(desk, 100.0, "a")
    (fired,) = look(desk, 160.0, "a")
    assert (fired.phase, fired.since_at, fired.at) == (Phase.FIRING, 100.0, 160.0)
    assert fired.summary == "a is odd. It is."
    assert fired.guide == "docs/guides/alerts.md#odd"
    assert look(desk, 175.0, "a") == ()
    assert [one.subject for one in desk.firing()] == ["a"]


def test_an_alert_without_a_hold_fires_at_once() -> None:
    assert phases(look(AlertDesk((an_alert(hold_s=0),)), 5.0, "a")) == [("a", Phase.FIRING)]


def test_what_fires_is_over_only_when_it_has_been_false_for_a_while() -> None:
    desk = AlertDesk((an_alert(hold_s=0),))
    look(desk, 0.0, "a")
    assert look(desk, CLEAR_S / 2, "") == ()
    assert look(desk, CLEAR_S - 1, "a") == ()
    assert look(desk, 2 * CLEAR_S - 2, "") == ()
    (over,) = look(desk, 2 * CLEAR_S, "")
    assert (over.phase, over.since_at, over.at) == (Phase.RESOLVED, 0.0, 2 * CLEAR_S)
    assert desk.firing() == ()


def test_the_same_trouble_again_is_another_alert() -> None:
    desk = AlertDesk((an_alert(hold_s=0),))
    (first,) = look(desk, 0.0, "a")
    look(desk, 100.0, "")
    (second,) = look(desk, 200.0, "a")
    assert first.key != second.key


def test_what_cannot_be_judged_neither_begins_nor_ends() -> None:
    desk = AlertDesk((an_alert(hold_s=0),))
    look(desk, 0.0, "a")
    for at in (100.0, 1000.0, 10_000.0):
        assert look(desk, at, None) == ()
    assert [one.subject for one in desk.firing()] == ["a"]
    assert phases(look(desk, 10_001.0, "")) == [("a", Phase.RESOLVED)]


def test_subjects_have_states_of_their_own() -> None:
    desk = AlertDesk((an_alert(),))
    look(desk, 0.0, "a")
    look(desk, 30.0, "a b")
    assert phases(look(desk, 60.0, "a b")) == [("a", Phase.FIRING)]
    assert phases(look(desk, 90.0, "a b")) == [("b", Phase.FIRING)]


def test_states_are_bounded_and_those_left_out_are_counted() -> None:
    desk = AlertDesk((an_alert(hold_s=0),), states_max=3)
    told = look(desk, 0.0, "a b c d e")
    assert [one.subject for one in told] == ["a", "b", "c"]
    assert desk.left_out == 2


def test_pages_come_before_tickets_and_the_oldest_first() -> None:
    ticket, page = an_alert("ticket", Severity.TICKET, 0), an_alert("page", Severity.PAGE, 10)
    desk = AlertDesk((ticket, page))
    look(desk, 0.0, "a")
    look(desk, 20.0, "a b")
    look(desk, 30.0, "a b")
    assert [(one.name, one.subject) for one in desk.firing()] == [
        ("page", "a"),
        ("page", "b"),
        ("ticket", "a"),
        ("ticket", "b"),
    ]
