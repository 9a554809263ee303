"""What TLS costs, as a table: of docs/tls-cost.md, and a section of docs/benchmarks.md."""

import ssl
import statistics
from collections.abc import Sequence

from benchmarks.tls.measure import CLIENTS, MTLS, PLAIN, TLS, TlsCost


def tls_section(costs: Sequence[TlsCost]) -> str:
    """Empty when it was not measured."""
    if not costs:
        return ""
    return "\n".join(["## TLS", "", f"{method(costs)} `make bench-tls` measures it alone.", "", *table(costs), ""])


def method(costs: Sequence[TlsCost]) -> str:
    """How it was measured."""
    rounds = len(costs[0].cpu_us[PLAIN])
    return (
        f"CPU of the supervisor and its one worker for one request, {CLIENTS} clients at once, medians of {rounds} "
        f"rounds in turns; certificates of P-256, {ssl.OPENSSL_VERSION}. Clients make no use of sessions, so a new "
        "connection is a whole handshake. Ratios are of the same round."
    )


def table(costs: Sequence[TlsCost]) -> list[str]:
    """A row for each request."""
    lines = [
        f"| Request | {PLAIN} | {TLS} | beside {PLAIN} | {MTLS} | beside {PLAIN} |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for cost in costs:
        found = cost.cpu_us
        cells = [f"{statistics.median(found[PLAIN]):.0f} µs"]
        for name in (TLS, MTLS):
            ratio = statistics.median(one / plain for one, plain in zip(found[name], found[PLAIN], strict=True))
            cells += [f"{statistics.median(found[name]):.0f} µs", f"{ratio:.2f}"]
        lines.append(f"| {cost.request} | {' | '.join(cells)} |")
    return lines
