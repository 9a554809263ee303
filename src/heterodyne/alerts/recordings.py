"""Recording rules: what alerts and dashboards would otherwise add up over days each time they look.

Long windows are sums of recorded five-minute rates. A sum counts what is missing as nothing, which is right for
failures that have not occurred; an average would not.
"""

from collections.abc import Iterable

from msgspec import Struct

from heterodyne.alerts.signals import AlertWindow
from heterodyne.domain.outcome import FAULTS, REFUSALS, RequestOutcome

RATE_INTERVAL_S = 30  # between two recorded rates
REQUESTS = "heterodyne_gateway_requests_total"
SLO_OUTCOMES = "heterodyne_gateway_promises_total"
TOKENS = (
    "(sum by (pool, hardware) (rate(heterodyne_gateway_prompt_tokens_total[5m]))"
    " + sum by (pool, hardware) (rate(heterodyne_gateway_completion_tokens_total[5m])))"
)
SPENT = "sum by (pool, hardware) (rate(heterodyne_gateway_usd_total[5m]))"
PAID = "sum by (pool, hardware) (heterodyne_fleet_usd_per_second)"


class Recording(Struct, frozen=True, kw_only=True):
    """A series under a name of its own."""

    name: str
    expression: str


def recordings() -> tuple[Recording, ...]:
    """In the order in which they rest on each other."""
    rates = (
        _rate("requests", REQUESTS),
        _rate("faults", REQUESTS + _among(FAULTS)),
        _rate("refusals", REQUESTS + _among(REFUSALS)),
        _rate("promises", SLO_OUTCOMES),
        _rate("broken_promises", f'{SLO_OUTCOMES}{{outcome="broken"}}'),
    )
    ratios = tuple(
        _ratio(bad, good, window)
        for bad, good in (("faults", "requests"), ("broken_promises", "promises"))
        for window in AlertWindow
    )
    queue = Recording(name="heterodyne:queue_depth:sum", expression="sum by (model) (heterodyne_admission_queue_depth)")
    # A pool that served nothing has no price by the token; dividing by zero would give it an infinite one.
    money = (
        _money("busy", SPENT),
        _money("idle", f"clamp_min({PAID} - ({SPENT} or 0 * {PAID}), 0)"),
    )
    return (*rates, *ratios, queue, *money)


def _among(outcomes: Iterable[RequestOutcome]) -> str:
    return f'{{outcome=~"{"|".join(sorted(outcomes))}"}}'


def _rate(name: str, counter: str) -> Recording:
    return Recording(name=f"heterodyne:{name}:rate5m", expression=f"sum by (model) (rate({counter}[5m]))")


def _ratio(bad: str, good: str, window: AlertWindow) -> Recording:
    parts = (f"heterodyne:{name}:rate5m" for name in (bad, good))
    if window is not AlertWindow.M5:
        parts = (f"sum_over_time({part}[{window}])" for part in parts)
    return Recording(name=f"heterodyne:{bad}:ratio_{window}", expression=" / ".join(parts))


def _money(what: str, usd_per_s: str) -> Recording:
    return Recording(name=f"heterodyne:usd_per_million_tokens:{what}", expression=f"1e6 * {usd_per_s} / ({TOKENS} > 0)")
