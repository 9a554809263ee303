"""What live runs of batches beside traffic found, and the section of docs/batches-beside.md that tells of it."""

from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.batches.beside import PERCENT, Beside
from benchmarks.batches.gateway_batch import WorkedOff

RESULTS = Path(__file__).with_name("live.json")
PRICE_MAX = 0.5


class LiveRun(Struct, frozen=True, kw_only=True):
    """One of the three."""

    came: int  # interactive requests beside the batch, or where it would have been
    late: int  # their first token
    slow: int  # the mean time between their tokens
    failed: int
    missed: int
    sent_late_p99_ms: float  # that requests left the client after they were meant to
    behind: list[str]  # emulators that the machine was too slow for
    worked_off: WorkedOff | None
    lines_per_s: float  # of the emulated clocks
    cached_share: float | None  # of prompt tokens that lines could share
    usd_per_million_lines: float | None
    usd_per_million_others: float | None
    pools: dict[str, int]  # lines that each was given

    @property
    def percent(self) -> float:
        """Interactive requests whose promise was kept."""
        return PERCENT * (1.0 - self.missed / self.came)


class LiveBeside(Struct, frozen=True, kw_only=True):
    """All of them, and their simulation."""

    day: str
    machine: str
    speed: float
    asked_lines: int
    alone: LiveRun
    lines_alone: LiveRun
    both: LiveRun
    load: float
    trace: str
    part: int
    simulated: Beside | None = None  # of the same options


def live_section() -> list[str]:
    """From what was kept; nothing where there is nothing."""
    return _section(msgspec.json.decode(RESULTS.read_bytes(), type=LiveBeside)) if RESULTS.exists() else []


def _section(found: LiveBeside) -> list[str]:
    return [
        "## Live, beside the simulation",
        "",
        f"Run of {found.day} on {found.machine}: four emulated replicas, each a process of its own, behind `heterodyne "
        f"serve` with one worker, and a client that replays part {found.part} of {found.trace} at {found.load:g} of "
        f"what the fleet holds. Emulated clocks ran at {found.speed:g} of their speed and promises were as much "
        "longer, so that what the machine's own time adds is as much less of a step; all rates are those of the "
        "emulated clocks. `make bench-batches` repeats it.",
        "",
        *_compared(found),
        "",
        *_ends(found),
        "",
    ]


def _compared(found: LiveBeside) -> list[str]:
    both, simulated = found.both, found.simulated
    left = (1.0 - found.load) * found.lines_alone.lines_per_s
    price = (both.usd_per_million_lines or 0.0) / (both.usd_per_million_others or 1.0)
    rows = [
        ("interactive SLO kept without the batch", f"{found.alone.percent:.2f} %", _kept(simulated, is_beside=False)),
        ("with it", f"{both.percent:.2f} %", _kept(simulated, is_beside=True)),
        ("lines/s alone", f"{found.lines_alone.lines_per_s:.0f}", _of(simulated, "lines_alone_per_s", 0)),
        ("lines/s beside traffic", f"{both.lines_per_s:.0f}", _of(simulated, "lines_per_s", 0)),
        ("of what is left over", f"{both.lines_per_s / left if left else 0.0:.2f}", _of(simulated, "of_left", 2)),
        ("shareable prompt tokens found in caches", f"{both.cached_share:.2f}", _of(simulated, "cached_share", 2)),
        ("dollars per million tokens, of interactive requests'", f"{price:.2f}", ""),
    ]
    return ["| | live | simulated |", "|---|---:|---:|", *(f"| {name} | {live} | {sim} |" for name, live, sim in rows)]


def _kept(simulated: Beside | None, *, is_beside: bool) -> str:
    if simulated is None:
        return ""
    return f"{(simulated.beside if is_beside else simulated.alone).percent:.2f} %"


def _of(simulated: Beside | None, name: str, digits: int) -> str:
    return "" if simulated is None else f"{getattr(simulated, name):.{digits}f}"


def _ends(found: LiveBeside) -> list[str]:
    both, alone, worked_off = found.both, found.alone, found.both.worked_off
    assert worked_off is not None
    behind = f"{', '.join(both.behind)} fell behind" if both.behind else "no emulator fell behind"
    return [
        f"The batch of {found.asked_lines:,} lines was {worked_off.status} with {worked_off.lines:,} answered: "
        f"{worked_off.twice} lines are in its output twice, {worked_off.lost} are lost. Of {both.came:,} interactive "
        f"requests {both.late} had a late first token, {both.slow} slow ones, {both.failed} failed; without the batch "
        f"{alone.late}, {alone.slow} and {alone.failed}. Requests left the client within {both.sent_late_p99_ms:.1f} "
        f"ms of their time (p99, {alone.sent_late_p99_ms:.1f} without the batch); {behind}."
    ]
