"""The state of alerts: pending, firing, over."""

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.evaluator import CLEAR_S, AlertEvaluator, Notice, Phase
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import AuditSignals, Signals

SETTINGS = AlertSettings()


def _judge(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    """True of every word that the audit log complains with."""
    if signals.audit is None:
        return None
    return tuple(AlertMatch(subject=word, detail="It is.") for word in (signals.audit.problem or "").split())


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


def look(evaluator: AlertEvaluator, at: float, words: str | None) -> tuple[Notice, ...]:
    audit = None if words is None else AuditSignals(problem=words, failures=0)
    return evaluator.evaluate(Signals(at=at, audit=audit), SETTINGS)


def phases(notices: tuple[Notice, ...]) -> list[tuple[str, Phase]]:
    return [(one.subject, one.phase) for one in notices]


def test_what_is_true_for_a_moment_is_told_to_nobody() -> None:
    evaluator = AlertEvaluator((an_alert(),))
    assert look(evaluator, 0.0, "a") == ()
    assert look(evaluator, 59.0, "") == ()
    assert look(evaluator, 61.0, "a") == ()
    assert evaluator.firing() == ()


def test_what_holds_long_enough_fires_once_and_says_since_when() -> None:
    evaluator = AlertEvaluator((an_alert(),))
    look(evaluator, 100.0, "a")
    (fired,) = look(evaluator, 160.0, "a")
    assert (fired.phase, fired.since_at, fired.at) == (Phase.FIRING, 100.0, 160.0)
    assert fired.summary == "a is odd. It is."
    assert fired.guide == "docs/guides/alerts.md#odd"
    assert look(evaluator, 175.0, "a") == ()
    assert [one.subject for one in evaluator.firing()] == ["a"]


def test_an_alert_without_a_hold_fires_at_once() -> None:
    assert phases(look(AlertEvaluator((an_alert(hold_s=0),)), 5.0, "a")) == [("a", Phase.FIRING)]


def test_what_fires_is_over_only_when_it_has_been_false_for_a_while() -> None:
    evaluator = AlertEvaluator((an_alert(hold_s=0),))
    look(evaluator, 0.0, "a")
    assert look(evaluator, CLEAR_S / 2, "") == ()
    assert look(evaluator, CLEAR_S - 1, "a") == ()
    assert look(evaluator, 2 * CLEAR_S - 2, "") == ()
    (over,) = look(evaluator, 2 * CLEAR_S, "")
    assert (over.phase, over.since_at, over.at) == (Phase.RESOLVED, 0.0, 2 * CLEAR_S)
    assert evaluator.firing() == ()


def test_the_same_trouble_again_is_another_alert() -> None:
    evaluator = AlertEvaluator((an_alert(hold_s=0),))
    (first,) = look(evaluator, 0.0, "a")
    look(evaluator, 100.0, "")
    (second,) = look(evaluator, 200.0, "a")
    assert first.key != second.key


def test_what_cannot_be_judged_neither_begins_nor_ends() -> None:
    evaluator = AlertEvaluator((an_alert(hold_s=0),))
    look(evaluator, 0.0, "a")
    for at in (100.0, 1000.0, 10_000.0):
        assert look(evaluator, at, None) == ()
    assert [one.subject for one in evaluator.firing()] == ["a"]
    assert phases(look(evaluator, 10_001.0, "")) == [("a", Phase.RESOLVED)]


def test_subjects_have_states_of_their_own() -> None:
    evaluator = AlertEvaluator((an_alert(),))
    look(evaluator, 0.0, "a")
    look(evaluator, 30.0, "a b")
    assert phases(look(evaluator, 60.0, "a b")) == [("a", Phase.FIRING)]
    assert phases(look(evaluator, 90.0, "a b")) == [("b", Phase.FIRING)]


def test_states_are_bounded_and_those_left_out_are_counted() -> None:
    evaluator = AlertEvaluator((an_alert(hold_s=0),), states_max=3)
    notices = look(evaluator, 0.0, "a b c d e")
    assert [one.subject for one in notices] == ["a", "b", "c"]
    assert evaluator.left_out == 2


def test_pages_come_before_tickets_and_the_oldest_first() -> None:
    ticket, page = an_alert("ticket", Severity.TICKET, 0), an_alert("page", Severity.PAGE, 10)
    evaluator = AlertEvaluator((ticket, page))
    look(evaluator, 0.0, "a")
    look(evaluator, 20.0, "a b")
    look(evaluator, 30.0, "a b")
    assert [(one.name, one.subject) for one in evaluator.firing()] == [
        ("page", "a"),
        ("page", "b"),
        ("ticket", "a"),
        ("ticket", "b"),
    ]
