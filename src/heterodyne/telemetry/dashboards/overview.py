"""The dashboard to look at first: golden signals, tokens, money, room, predictions, errors, the gateway itself."""

from heterodyne.domain.outcome import FAULTS, REFUSALS
from heterodyne.telemetry import metrics
from heterodyne.telemetry.dashboards.chart import (
    VARIABLES,
    Chart,
    ChartQuery,
    Row,
    gauge,
    legend,
    placed,
    quantiles,
    rate,
)
from heterodyne.telemetry.dashboards.grafana import Dashboard, templating
from heterodyne.telemetry.meters import Meter

TAILS = (0.5, 0.99, 0.999)
FAULT = f'=~"{"|".join(sorted(FAULTS))}"'
REFUSED = f'=~"{"|".join(sorted(REFUSALS))}"'
SECONDS_PER_HOUR = 3600


def overview() -> Dashboard:
    """Rows in the order in which one asks."""
    return Dashboard(
        uid="heterodyne-overview",
        title="Heterodyne: overview",
        description="The fleet at a glance. Written by `heterodyne observability dashboards`.",
        panels=placed((_golden(), _tokens(), _money(), _room(), _predictions(), _errors(), _gateway())),
        templating=templating(dict.fromkeys(VARIABLES, metrics.requests.name)),
    )


def _golden() -> Row:
    faults = rate(metrics.requests, "model", outcome=FAULT)
    kept = rate(metrics.slo_outcomes, "model", outcome='="kept"')
    return Row(
        title="Golden signals",
        charts=(
            _rates("Requests per second", "reqps", metrics.requests, "model"),
            _chart("Time to first token", "s", *quantiles(metrics.ttft, TAILS, "model")),
            _chart("Time between tokens", "s", *quantiles(metrics.itl, TAILS, "model")),
            _chart("End to end", "s", *quantiles(metrics.duration, TAILS, "model")),
            _chart("Time to first token by pool, p99", "s", *quantiles(metrics.ttft, (0.99,), "pool", "hardware")),
            _chart("Wait for a turn", "s", *quantiles(metrics.queue, (0.5, 0.99), "model", "tier")),
            _chart(
                "Failed through the fleet",
                "percentunit",
                ChartQuery(expression=f"{faults} / {rate(metrics.requests, 'model')}", legend="{{model}}"),
            ),
            _chart(
                "Promises kept",
                "percentunit",
                ChartQuery(expression=f"{kept} / {rate(metrics.slo_outcomes, 'model')}", legend="{{model}}"),
            ),
            _chart("In flight", "short", _gauge(metrics.in_flight, "sum", "pool")),
        ),
    )


def _tokens() -> Row:
    found = rate(metrics.cached_tokens, "pool")
    return Row(
        title="Tokens",
        charts=(
            _rates("Prompt tokens per second", "short", metrics.prompt_tokens, "hardware"),
            _rates("Output tokens per second", "short", metrics.completion_tokens, "hardware"),
            _rates("Output tokens per second by model", "short", metrics.completion_tokens, "model"),
            _chart(
                "Prompt tokens found in prefix caches",
                "percentunit",
                ChartQuery(expression=f"{found} / {rate(metrics.prompt_tokens, 'pool')}", legend="{{pool}}"),
            ),
            _chart("Tokens of an answer", "short", *quantiles(metrics.completion_length, (0.5, 0.99), "model")),
            _rates("Output tokens per second, as engines count", "short", metrics.engine_output_tokens, "pool"),
        ),
    )


def _money() -> Row:
    paid = gauge(metrics.usd_per_second, "sum", "pool", "hardware")
    used = rate(metrics.usd, "pool", "hardware")
    return Row(
        title="Money",
        charts=(
            _chart(
                "Dollars per hour",
                "currencyUSD",
                ChartQuery(expression=f"{SECONDS_PER_HOUR} * {paid}", legend="{{pool}} paid"),
                ChartQuery(expression=f"{SECONDS_PER_HOUR} * {used}", legend="{{pool}} used"),
            ),
            _chart(
                "Dollars per million tokens",
                "currencyUSD",
                _gauge(metrics.usd_per_million_tokens, "max", "pool", "hardware", "what"),
            ),
            _chart(
                "Dollars per hour used, by model and tier",
                "currencyUSD",
                ChartQuery(
                    expression=f"{SECONDS_PER_HOUR} * {rate(metrics.usd, 'model', 'tier')}", legend="{{model}} {{tier}}"
                ),
            ),
        ),
    )


def _room() -> Row:
    taken = gauge(metrics.in_flight, "sum", "pool")
    bearable = gauge(metrics.in_flight_limit, "sum", "pool")
    return Row(
        title="Room",
        charts=(
            _chart("Replicas", "short", _gauge(metrics.replicas, "sum", "pool", "state")),
            _chart(
                "Share of the requests a pool bears",
                "percentunit",
                ChartQuery(expression=f"{taken} / {bearable}", legend="{{pool}}"),
            ),
            _chart(
                "In the engines",
                "short",
                _gauge(metrics.engine_running, "sum", "pool", word="run"),
                _gauge(metrics.engine_waiting, "sum", "pool", word="wait"),
            ),
            _chart("KV memory in use", "percentunit", _gauge(metrics.engine_kv_ratio, "avg", "pool")),
            _chart("Waiting in the gateway", "short", _gauge(metrics.queue_depth, "sum", "model", "class")),
            _chart(
                "Accelerators at work",
                "percentunit",
                _gauge(metrics.accelerator_utilisation, "avg", "pool", "hardware"),
            ),
            _chart("Limits most used", "percentunit", _gauge(metrics.limit_used, "max", "level", "limit")),
        ),
    )


def _predictions() -> Row:
    return Row(
        title="Predictions",
        charts=(
            _chart(
                "Smoothed |ln(actual / predicted)|", "short", _gauge(metrics.prediction_error, "max", "pool", "what")
            ),
            _chart(
                "TTFT, actual over predicted", "short", *quantiles(metrics.ttft_prediction, (0.1, 0.5, 0.9), "pool")
            ),
            _rates("Forecasts within the span that was told", "ops", metrics.forecasts, "pool", "what", "outcome"),
            _rates("Decisions per second", "ops", metrics.decisions, "pool", "reason"),
        ),
    )


def _errors() -> Row:
    return Row(
        title="Errors, refusals, retries",
        charts=(
            _chart(
                "Errors per second",
                "ops",
                ChartQuery(
                    expression=rate(metrics.requests, "status", "reason", reason='!=""'), legend="{{status}} {{reason}}"
                ),
            ),
            _chart(
                "Errors per second by pool",
                "ops",
                ChartQuery(expression=rate(metrics.requests, "pool", "hardware", reason='!=""'), legend="{{pool}}"),
            ),
            _chart(
                "Requests refused per second, for want of room or by a limit",
                "ops",
                ChartQuery(
                    expression=rate(metrics.requests, "model", "outcome", outcome=REFUSED),
                    legend="{{model}} {{outcome}}",
                ),
            ),
            _rates("Refusals per second", "ops", metrics.refusals, "reason", "tier"),
            _chart(
                "Second attempts per second",
                "ops",
                ChartQuery(expression=rate(metrics.retries, "pool"), legend="{{pool}} retried"),
                ChartQuery(expression=rate(metrics.hedges, "pool"), legend="{{pool}} hedged"),
                ChartQuery(expression=rate(metrics.continuations, "pool"), legend="{{pool}} continued"),
            ),
            _rates("Failed attempts per second", "ops", metrics.attempts_failed, "pool", "outcome"),
            _chart(
                "Replicas that get no work",
                "short",
                _gauge(metrics.ejected, "sum", "pool", word="ejected"),
                _gauge(metrics.breaker_open, "sum", "pool", word="breaker open"),
            ),
        ),
    )


def _gateway() -> Row:
    return Row(
        title="The gateway itself",
        charts=(
            _chart("Own work on a request", "s", *quantiles(metrics.overhead, TAILS)),
            _chart("Wait for a connection", "s", *quantiles(metrics.connect, (0.5, 0.99), "pool")),
            _chart("Client connections", "short", _gauge(metrics.connections, "sum", word="open")),
            _chart("Request bodies in memory", "bytes", _gauge(metrics.body_bytes, "sum", word="held")),
            _chart("Longest turn of a worker's loop", "s", _gauge(metrics.loop_turn, "max", "clock")),
            _chart(
                "Usage that waits for the store",
                "bytes",
                _gauge(metrics.books_backlog, "sum", word="waits"),
                _gauge(metrics.books_backlog_max, "sum", word="may wait"),
            ),
            _chart("Alerts that fire", "short", _gauge(metrics.alerts_firing, "max", "severity", "name")),
        ),
    )


def _chart(title: str, unit: str, *lines: ChartQuery) -> Chart:
    return Chart(title=title, unit=unit, lines=lines)


def _rates(title: str, unit: str, meter: Meter, *by: str) -> Chart:
    return _chart(title, unit, ChartQuery(expression=rate(meter, *by), legend=legend(by)))


def _gauge(meter: Meter, how: str, *by: str, word: str = "") -> ChartQuery:
    return ChartQuery(expression=gauge(meter, how, *by), legend=legend(by, *filter(None, (word,))))
