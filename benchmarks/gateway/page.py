"""The whole of docs/benchmarks.md from one run; the same tables go to the terminal."""

from collections.abc import Mapping
from statistics import median
from textwrap import dedent

from msgspec import Struct

from benchmarks import machine
from benchmarks.gateway.cells import BARE, amount, number, title
from benchmarks.gateway.failover import Failover
from benchmarks.gateway.failover_page import failover_section
from benchmarks.gateway.many_page import many_section
from benchmarks.gateway.many_replicas import ManyReplicas
from benchmarks.gateway.measure import STOLEN_MAX, TRIES_MAX
from benchmarks.gateway.peers import HETERODYNE, TENANTS, VLLM_ROUTER
from benchmarks.gateway.results import Row, cpu_ratios
from benchmarks.gateway.scenarios import PROMPT, REQUEST, STREAM
from benchmarks.gateway.targets import Verdict, verdicts
from benchmarks.gateway.upstream import TOKEN_GAP_S, TOKENS
from benchmarks.tls.measure import TlsCost
from benchmarks.tls.page import tls_section
from heterodyne.telemetry.build_form import BuildForm


class Run(Struct, frozen=True, kw_only=True):
    """Everything a page is made from."""

    day: str
    starts: int
    rounds: int
    seconds: float
    form: BuildForm  # of ours
    rows: tuple[Row, ...]
    many: tuple[ManyReplicas, ...]
    failovers: tuple[Failover, ...]
    tls: tuple[TlsCost, ...]
    absent: dict[str, str]  # gateway: why it was not measured


def render(run: Run) -> str:
    """Markdown."""
    return "\n".join((_opening(run), tables(run), _method(run)))


def summary(run: Run) -> str:
    """The few numbers the README shows."""
    lines = [
        f"| one worker, same run | CPU µs/request | CPU µs/stream of {TOKENS} | CPU ms/400 KB prompt | RSS MiB |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in run.rows:
        if row.name != BARE:
            cells = (row.request_cpu_us, row.stream_cpu_us, row.prompt_cpu_ms, row.rss_mib)
            lines.append(f"| {title(row)} | {' | '.join(number(cell) for cell in cells)} |")
    where = "[docs/benchmarks.md](docs/benchmarks.md)"
    return "\n".join(
        [
            *lines,
            "",
            *_ratios({row.name: row for row in run.rows}),
            f"Run of {run.day}, {machine.describe()}, Heterodyne {machine.FORMS[run.form]}, medians of {run.starts}",
            f"starts. `make bench` installs the peers beside us, repeats this on your machine and rewrites {where}:",
            "method, targets missed and met, latencies.",
        ]
    )


def _ratios(rows: Mapping[str, Row]) -> tuple[str, ...]:
    """How we stand beside the fastest router, in a sentence; none where it was not measured."""
    ours, all_on, theirs = rows.get(HETERODYNE), rows.get(TENANTS), rows.get(VLLM_ROUTER)
    if ours is None or all_on is None or theirs is None:
        return ()
    request, stream, prompt = (
        [median(cpu_ratios(row, theirs, scenario)) for row in (ours, all_on)] for scenario in (REQUEST, STREAM, PROMPT)
    )
    return (
        f"Here a request takes {request[0]:.2f} times the CPU of vllm-router's, {request[1]:.2f} with keys, limits, "
        f"queue and books on; a stream {stream[0]:.2f} and {stream[1]:.2f}, a 400 KB prompt {prompt[0]:.2f} and "
        f"{prompt[1]:.2f}.",
    )


def tables(run: Run) -> str:
    """The numbers alone."""
    rows = {row.name: row for row in run.rows}
    parts = [
        _targets(verdicts(rows, run.failovers)),
        _costs(run.rows) if rows else "",
        _latencies(rows),
        many_section(run.many),
        failover_section(run.failovers),
        tls_section(run.tls),
        _validity(run),
    ]
    return "\n".join(part for part in parts if part)


def _opening(run: Run) -> str:
    return dedent(
        f"""\
        # Benchmarks

        What a gateway costs: the CPU time it takes and the delay it adds, measured beside its peers in one run.
        `make bench` repeats the run on your machine and rewrites this page; nothing here is typed by hand.

        Run of {run.day} on {machine.describe()}, Heterodyne {machine.FORMS[run.form]}: medians of
        {run.starts} starts of every gateway, {run.rounds} x {run.seconds:g} s each.
        """
    )


def _targets(found: tuple[Verdict, ...]) -> str:
    lines = ["## Targets", "", "| Heterodyne | measured | by start | target | |", "|---|---:|---:|---:|---|"]
    for verdict in found:
        measured = "–" if verdict.measured is None else amount(verdict.measured, verdict.unit)
        spread = "" if verdict.spread is None else " to ".join(amount(end, verdict.unit) for end in verdict.spread)
        limit = amount(verdict.limit, verdict.unit)
        lines.append(f"| {verdict.what} | {measured} | {spread} | ≤ {limit} | {verdict.word} |")
    return "\n".join([*lines, ""])


def _costs(rows: tuple[Row, ...]) -> str:
    lines = [
        "## CPU and memory",
        "",
        "One worker, 16 connections (4 for the 400 KB prompts), closed loop. CPU is that of the whole process tree.",
        "`heterodyne` is a router here, as its peers are; with *all on* every request has a key, reserves and settles",
        "limits of that key, its project and its organisation, and is booked in a database, which is part of the CPU.",
        "Python built without profile-guided optimisation (pyenv's default) costs about a third more than a",
        "distribution's.",
        "",
        f"| gateway | CPU µs/request | by start | of it kernel | requests/s | CPU µs/stream of {TOKENS} "
        "| CPU µs/token | streams/s | CPU ms/400 KB prompt | RSS MiB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        cells = (
            number(row.request_cpu_us),
            _spread(row.cpu_us.get(REQUEST.name, ())),
            number(row.request_kernel_us),
            number(row.requests_per_s),
            number(row.stream_cpu_us),
            number(row.token_cpu_us),
            number(row.streams_per_s),
            number(row.prompt_cpu_ms),
            number(row.rss_mib),
        )
        lines.append(f"| {title(row)} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _latencies(rows: Mapping[str, Row]) -> str:
    bare = rows.get(BARE)
    if bare is None:
        return ""
    lines = [
        "## Added latency",
        "",
        "Over the bare engine, in milliseconds. One request at a time shows the gateway's own delay; half load, half",
        "of the requests/s above at random moments, what users would see; 16 at once, each asking again as soon as it",
        "is answered, mostly show its throughput, and their p99 the noise of the machine. Between tokens: how much",
        f"longer gaps are that clients of 16 streams see, whose engine takes {1000 * TOKEN_GAP_S:g} ms for a token.",
        "",
        "| gateway | p50, one at a time | p99, one at a time | p50, half load | p99, half load "
        "| p50, 16 at once | p99, 16 at once | p50, between tokens | p99, between tokens |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows.values():
        if row is bare:
            continue
        cells = (
            _added(row.alone_p50_ms, bare.alone_p50_ms),
            _added(row.alone_p99_ms, bare.alone_p99_ms),
            _added(row.half_p50_ms, bare.half_p50_ms),
            _added(row.half_p99_ms, bare.half_p99_ms),
            _added(row.loaded_p50_ms, bare.loaded_p50_ms),
            _added(row.loaded_p99_ms, bare.loaded_p99_ms),
            _added(row.gap_p50_ms, bare.gap_p50_ms),
            _added(row.gap_p99_ms, bare.gap_p99_ms),
        )
        lines.append(f"| {title(row)} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _validity(run: Run) -> str:
    lines = ["## Validity", ""]
    rows = (*run.rows, *(row for pair in run.many for row in (pair.one, pair.many)))
    total, failed = sum(row.requests for row in rows), [row for row in rows if row.failures]
    if not total and not run.absent:
        return ""
    lines.append(
        f"{total:,} answers were counted, each to its last byte. Before the load, every gateway returned all {TOKENS} "
        "tokens of the engine, whole and streamed."
    )
    if not failed:
        lines.append("Under load there was no status other than 200 and no broken or incomplete answer.")
    lines += [f"- {title(row)}: {row.failures:,} of {row.requests:,} answers failed." for row in failed]
    lines += [f"- {name} was not measured: {reason}" for name, reason in run.absent.items()]
    return "\n".join([*lines, ""])


def _method(run: Run) -> str:
    return dedent(
        f"""\
        ## Method

        - The engine is a mock on loopback (`benchmarks/gateway/upstream.py`): one canned JSON answer, or {TOKENS}
          tokens, each written on its own. The row *none* is the mock itself: its CPU is the engine's, not a gateway's.
        - Each gateway runs with one worker; that of the Rust routers has its default number of threads. Only one
          gateway is under load at a time. The load (`benchmarks/gateway/load.py`) is closed loop: a connection asks
          again when its answer is whole. At half load it is open (`benchmarks/gateway/paced_load.py`): a latency
          counts from when the request was due.
        - Every gateway is started {run.starts} times, since one start of a program may be slower than the next for its
          whole life; measures go round-robin over the gateways, so that a busy minute of the machine falls on all of
          them. The tables show medians, and the least and the most of any start; a target's ratio is the median of
          those of each start. No process is pinned to a core.
        - On a virtual machine others may take the processor away. A measure that lost over {STOLEN_MAX:.0%} of it is
          made again, {TRIES_MAX} times at most; that which lost least counts, whatever it says.
        - CPU is user and system time of the gateway's process tree from the first request of a measure to the last byte
          of its last answer. It moves less on a shared machine than requests/s and latencies do, since load,
          engine and gateway share the cores with whatever else runs. Compare rows of one run only.
        - Heterodyne sends tokens that come within 2 ms of the last ones together, 2 ms later at most, which makes the
          streams of this mock cheaper. Those of a usual engine are further apart, and wait for nothing: *between
          tokens* shows it.
        - The mock does not pause between tokens. Tokens that pile up in front of a gateway are relayed together, which
          makes a token cheaper for a slow gateway than for a fast one.
        - Heterodyne runs with its defaults, metrics included, and writes a record of every request to a file. The peers
          run with theirs, without keys or quotas; the logs of the two Rust routers are turned down to errors.
        - The interpreter counts: one built with profile-guided optimisation, as distributions ship it, takes a quarter
          less for our own path and a tenth less for a whole request than one compiled without. Machines differ as
          much: the targets in microseconds were set on one where vllm-router takes 109 µs per request and 11.3 µs per
          token.
        - RSS is the highest sum over the process tree; pages shared by its processes count more than once.

        ## Repeat it

        ```console
        $ make bench                                   # everything; installs the peers under .venv-bench/
        $ make bench ARGS="--only heterodyne --quick"  # under a minute, prints and leaves this page alone
        $ make bench ARGS="--section failover"         # that section alone; also gateways, replicas
        ```
        """
    )


def _spread(by_start: tuple[float, ...]) -> str:
    return f"{number(min(by_start))} to {number(max(by_start))}" if by_start else "–"


def _added(value: float | None, bare: float | None) -> str:
    return "–" if value is None or bare is None else f"{value - bare:,.2f}"
