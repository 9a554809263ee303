"""Each alert of the catalogue, true and not, by our own signals."""

import pytest

from heterodyne.alerts.catalogue import ALERTS
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import (
    AbuseSignals,
    AlertWindow,
    AuditSignals,
    BooksSignals,
    CertificateSignals,
    DiscoverySignals,
    DriftSignals,
    LimitSignals,
    ModelSignals,
    PoolSignals,
    PredictionSignals,
    QueueSignals,
    ReplicaSignals,
    ScaledModelSignals,
    ScaledPoolSignals,
    Signals,
    TtftPercentile,
    WindowCounts,
)

DEFAULTS = AlertSettings()
BY_NAME = {alert.name: alert for alert in ALERTS}


def fires(name: str, signals: Signals, settings: AlertSettings = DEFAULTS) -> list[str]:
    """The subjects of which it is true."""
    found = BY_NAME[name].judge(signals, settings)
    assert found is not None
    return [one.subject for one in found]


def of_models(*models: ModelSignals) -> Signals:
    return Signals(at=0.0, models=models)


def burning(share: float, requests: int = 1000, short_share: float | None = None) -> ModelSignals:
    """A model of which this share goes wrong in every window, or another in the short ones."""
    shares = dict.fromkeys(AlertWindow, share)
    if short_share is not None:
        shares |= dict.fromkeys((AlertWindow.M5, AlertWindow.M30), short_share)
    tallies = {
        window: WindowCounts(
            requests=requests, faults=round(one * requests), promised=requests, broken=round(one * requests)
        )
        for window, one in shares.items()
    }
    return ModelSignals(model="m", tallies=tallies)


@pytest.mark.parametrize("kind", ["failed_requests", "broken_promises"])
@pytest.mark.parametrize(
    ("share", "words"),
    [(0.2, {"fast", "steady", "slow"}), (0.08, {"steady", "slow"}), (0.02, {"slow"}), (0.005, set())],
)
def test_a_budget_burns_at_the_paces_it_is_over(kind: str, share: float, words: set[str]) -> None:
    signals = of_models(burning(share))
    assert {word for word in ("fast", "steady", "slow") if fires(f"{kind}_burn_{word}", signals)} == words


def test_failures_that_have_ended_page_nobody() -> None:
    signals = of_models(burning(0.2, short_share=0.0))
    assert fires("failed_requests_burn_fast", signals) == []
    assert fires("failed_requests_burn_steady", signals) == []
    assert fires("failed_requests_burn_slow", signals) == ["m"]


def test_what_was_turned_away_before_it_had_a_model_is_told_of_the_gateway() -> None:
    tallies = dict.fromkeys(AlertWindow, WindowCounts(requests=100, faults=50))
    assert fires("failed_requests_burn_fast", of_models(ModelSignals(model="", tallies=tallies))) == ["the gateway"]


def test_a_few_failures_of_a_model_that_is_hardly_asked_are_no_trend() -> None:
    assert fires("failed_requests_burn_fast", of_models(burning(0.5, requests=8))) == []
    assert fires("failed_requests_burn_fast", of_models(burning(0.5, requests=10))) == ["m"]


def test_a_stricter_target_is_missed_sooner() -> None:
    strict = AlertSettings(slo_target=0.999)
    assert fires("failed_requests_burn_fast", of_models(burning(0.02))) == []
    assert fires("failed_requests_burn_fast", of_models(burning(0.02)), strict) == ["m"]


def test_a_model_nobody_asked_is_no_trouble() -> None:
    quiet = ModelSignals(model="m", tallies={})
    assert [name for name in BY_NAME if "burn" in name and fires(name, of_models(quiet))] == []


def a_pool(**other: object) -> Signals:
    fields: dict[str, object] = {
        "pool": "p",
        "ready": 2,
        "down": 0,
        "wanted": 0,
        "starting": 0,
        "in_flight": 10,
        "in_flight_max": 100,
        "running": 10,
        "waiting": 0,
        "kv_share": 0.5,
        **other,
    }
    return Signals(at=0.0, pools=(PoolSignals(**fields),))  # type: ignore[arg-type]


POOL_ALERTS = (
    *("pool_saturated", "kv_full", "engines_queueing"),
    *("pool_without_replica", "pool_not_starting", "replica_down"),
)


@pytest.mark.parametrize(
    ("signals", "names"),
    [
        (a_pool(), set()),
        (a_pool(in_flight=91), {"pool_saturated"}),
        (a_pool(in_flight=90), set()),
        (a_pool(in_flight=91, in_flight_max=None), set()),
        (a_pool(kv_share=0.91), {"kv_full"}),
        (a_pool(kv_share=None, running=None, waiting=None), set()),
        (a_pool(waiting=11), {"engines_queueing"}),
        (a_pool(waiting=10), set()),
        (a_pool(ready=1, down=1, wanted=1), {"replica_down"}),
        (a_pool(ready=0, down=2, wanted=2), {"replica_down", "pool_without_replica"}),
        (a_pool(ready=0, wanted=1), {"pool_without_replica"}),
        (a_pool(ready=0, starting=2), {"pool_not_starting"}),
        (a_pool(ready=1, starting=1), set()),
        (a_pool(ready=0), set()),  # all of them are drained
    ],
)
def test_a_pool_in_trouble(signals: Signals, names: set[str]) -> None:
    assert {name for name in POOL_ALERTS if fires(name, signals) == ["p"]} == names


@pytest.mark.parametrize(("now", "before", "is_true"), [(5, 0, True), (5, 5, False), (3, 5, False), (5, None, False)])
def test_a_queue_grows_beside_what_it_was(now: float, before: float | None, is_true: bool) -> None:
    queue = QueueSignals(model="m", depth=now, depth_before=before)
    assert bool(fires("queue_growing", Signals(at=0.0, queues=(queue,)))) is is_true


def late(count: int, ms: float) -> Signals:
    tail = TtftPercentile(count=count, ms=ms)
    return of_models(ModelSignals(model="m", tallies={}, ttft_p99=tail, ttft_p999=tail))


def test_late_first_tokens_count_where_there_are_enough() -> None:
    assert fires("ttft_p99_high", late(100, 10_001)) == ["m"]
    assert fires("ttft_p99_high", late(99, 10_001)) == []
    assert fires("ttft_p99_high", late(100, 10_000)) == []
    assert fires("ttft_p999_high", late(1000, 30_001)) == ["m"]
    assert fires("ttft_p999_high", late(999, 30_001)) == []


def test_thresholds_that_are_absent_are_no_alerts() -> None:
    off = AlertSettings(ttft_p99_ms=None, ttft_p999_ms=None)
    assert fires("ttft_p99_high", late(5000, 1e6), off) == []
    assert fires("ttft_p999_high", late(5000, 1e6), off) == []
    assert BY_NAME["ttft_p99_high"].expression(off) is None


def test_predictions_drift_where_there_are_enough() -> None:
    def predicted(count: int, median: float) -> Signals:
        return Signals(at=0.0, predictions=(PredictionSignals(pool="p", count=count, median=median),))

    assert fires("predictor_drift", predicted(50, 0.3)) == ["p"]
    assert fires("predictor_drift", predicted(49, 0.3)) == []
    assert fires("predictor_drift", predicted(50, 0.25)) == []


@pytest.mark.parametrize(
    ("ratio", "names"), [(0.9, []), (0.95, ["budget_low"]), (1.0, ["budget_spent"]), (1.2, ["budget_spent"])]
)
def test_a_budget_is_low_and_then_spent(ratio: float, names: list[str]) -> None:
    signals = Signals(at=0.0, limits=(LimitSignals(level="project:acme/search", limit="usd_per_day", ratio=ratio),))
    subject = ["project:acme/search usd_per_day"]
    assert [name for name in ("budget_low", "budget_spent") if fires(name, signals) == subject] == names


def test_a_limit_that_is_not_in_dollars_is_no_budget() -> None:
    signals = Signals(at=0.0, limits=(LimitSignals(level="organisation:acme", limit="tokens_per_day", ratio=2.0),))
    assert fires("budget_spent", signals) == []


def test_replicas_that_are_ejected_or_do_not_stay() -> None:
    rows = (
        ReplicaSignals(replica="out", is_ejected=True, restarts=0),
        ReplicaSignals(replica="loops", is_ejected=False, restarts=3),
        ReplicaSignals(replica="well", is_ejected=False, restarts=2),
    )
    signals = Signals(at=0.0, replicas=rows)
    assert fires("replica_ejected", signals) == ["out"]
    assert fires("replica_restarting", signals) == ["loops"]


def test_replicas_whose_answers_moved() -> None:
    drifts = (DriftSignals(replica="moved", kl_nats=0.4), DriftSignals(replica="stayed", kl_nats=0.001))
    assert fires("replica_drifted", Signals(at=0.0, drifts=drifts)) == ["moved"]


def test_workers_that_die_page_somebody() -> None:
    assert fires("workers_restarting", Signals(at=0.0, worker_restarts=2)) == []
    assert fires("workers_restarting", Signals(at=0.0, worker_restarts=3)) == ["the gateway"]


@pytest.mark.parametrize(
    ("books", "names"),
    [
        (BooksSignals(problem=None, filled=0.5, damaged=0), set()),
        (BooksSignals(problem="away", filled=0.0, damaged=0), {"books_stalled"}),
        (BooksSignals(problem=None, filled=0.51, damaged=0), {"books_filling"}),
        (BooksSignals(problem=None, filled=0.0, damaged=1), {"books_damaged"}),
    ],
)
def test_books_in_trouble(books: BooksSignals, names: set[str]) -> None:
    signals = Signals(at=0.0, books=books)
    assert {name for name in BY_NAME if name.startswith("books") and fires(name, signals)} == names


@pytest.mark.parametrize(
    ("audit", "names"),
    [
        (AuditSignals(problem=None, failures=0), set()),
        (AuditSignals(problem="disk full", failures=2), {"audit_stalled", "audit_failing"}),
        (AuditSignals(problem=None, failures=1), {"audit_failing"}),
    ],
)
def test_an_audit_log_in_trouble(audit: AuditSignals, names: set[str]) -> None:
    signals = Signals(at=0.0, audit=audit)
    assert {name for name in BY_NAME if name.startswith("audit") and fires(name, signals)} == names


@pytest.mark.parametrize(("failures", "is_firing"), [(0, False), (1, True)])
def test_guards_that_cannot_look(failures: int, is_firing: bool) -> None:
    assert bool(fires("guards_failing", Signals(at=0.0, guard_failures=failures))) is is_firing


@pytest.mark.parametrize(("away", "is_firing"), [(False, False), (True, True)])
def test_gateways_that_do_not_hear_of_each_other(away: bool, is_firing: bool) -> None:
    assert bool(fires("gateways_apart", Signals(at=0.0, reports_away=away))) is is_firing


def test_gateways_by_other_settings_fire_by_their_names() -> None:
    assert not fires("gateways_settings_apart", Signals(at=0.0, settings_apart=()))
    assert fires("gateways_settings_apart", Signals(at=0.0, settings_apart=("b:8080",)))


def test_a_policy_that_holds_keys_fires_and_one_that_holds_none_does_not() -> None:
    held = (AbuseSignals(policy="spread", keys=3), AbuseSignals(policy="cost", keys=0))
    assert fires("abuse_found", Signals(at=0.0, abuse=held)) == ["spread"]


def test_certificates_that_are_soon_over_and_those_that_are() -> None:
    day_s = 86400.0
    seen = tuple(
        CertificateSignals(setting=setting, ends_at=ends_at)
        for setting, ends_at in (("far", 15 * day_s), ("soon", 13 * day_s), ("over", -1.0), ("unread", None))
    )
    signals = Signals(at=0.0, certificates=seen)
    assert fires("certificate_ending", signals) == ["soon"]
    assert fires("certificate_over", signals) == ["over"]


def test_a_cluster_that_was_not_heard_for_long() -> None:
    seen = tuple(DiscoverySignals(pool=pool, heard_at=at) for pool, at in (("a", 999.0), ("b", 600.0), ("never", None)))
    assert fires("discovery_silent", Signals(at=1000.0, discoveries=seen)) == ["b"]


def test_a_model_that_is_short_says_why_and_one_above_its_maximum_what_would_be_carried() -> None:
    short = ScaledModelSignals(model="short", needed=4.0, most=6.0, is_paused=False, short="2.00 are missing: a quota.")
    above = ScaledModelSignals(model="above", needed=7.0, most=6.0, is_paused=False, short="")
    paused = ScaledModelSignals(model="paused", needed=1.0, most=6.0, is_paused=True, short="")
    signals = Signals(at=0.0, scaled_models=(short, above, paused))
    assert fires("scaling_short", signals) == ["short"]
    assert fires("scaling_above_maximum", signals) == ["above"]
    assert fires("scaling_paused", signals) == ["paused"]
    (found,) = BY_NAME["scaling_short"].judge(signals, DEFAULTS) or ()
    assert "a quota" in found.detail


def test_a_driver_may_be_away_for_as_long_as_a_start_takes() -> None:
    pools = tuple(
        ScaledPoolSignals(pool=pool, cold_start_s=90.0, away_s=away_s, problem="kubernetes: no answer")
        for pool, away_s in (("answers", None), ("soon", 80.0), ("away", 100.0))
    )
    assert fires("scaling_driver_away", Signals(at=0.0, scaled_pools=pools)) == ["away"]


@pytest.mark.parametrize("name", BY_NAME)
def test_without_its_signals_no_alert_is_judged(name: str) -> None:
    assert BY_NAME[name].judge(Signals(at=0.0), DEFAULTS) is None
