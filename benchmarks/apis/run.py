"""`make bench-apis`: CPU of streams in other APIs' words beside chat streams, written to docs/api-cost.md."""

import argparse
import statistics
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.gateway import running
from benchmarks.gateway.measure import measure
from benchmarks.gateway.peers import HETERODYNE
from benchmarks.gateway.scenarios import APIS, STREAM
from benchmarks.gateway.upstream import TOKENS
from benchmarks.machine import describe
from heterodyne.gateway import relay

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "api-cost.md"
TARGET = 1.3


def main() -> None:
    """Measure in turns, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="times each is measured (default: 5)")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one measure (default: 3)")
    options = parser.parse_args()
    cpu_us: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="heterodyne-apis-") as temporary:
        folder = Path(temporary)
        with (
            running.upstream(folder) as (engine,),
            running.gateway(HETERODYNE, [engine.port], folder, folder) as gateway,
        ):
            for number in range(options.rounds):
                for scenario in (STREAM, *APIS):
                    sample = measure(gateway, scenario, options.seconds)
                    cpu_us.setdefault(scenario.name, []).append(sample.cpu_us_per_request)
                    print(
                        f"round {number + 1}  {scenario.name:10} {sample.cpu_us_per_request:8.1f} µs", file=sys.stderr
                    )
    _, heading, rest = PAGE.read_text(encoding="utf-8").partition("\n## ")  # which `lockstep.py` has the figures of
    PAGE.write_text(_page(cpu_us) + heading + rest, encoding="utf-8")


def _page(cpu_us: dict[str, list[float]]) -> str:
    chat = cpu_us[STREAM.name]
    day, form = datetime.now(UTC).date().isoformat(), "Python" if relay.__file__.endswith(".py") else "compiled"
    lines = [
        "# What other APIs cost",
        "",
        f"Written by `make bench-apis`; run of {day}, {describe()}, {form}. CPU of the supervisor and its one worker "
        f"for a stream of {TOKENS} tokens, 16 at once, medians of {len(chat)} rounds in turns. Inside, a request is a "
        "chat, whose events pass as they are; those of other APIs are told anew. Ratios are of the same round; the "
        f"target is {TARGET}.",
        "",
        "| Stream | CPU | beside chat |",
        "|---|--:|--:|",
        f"| OpenAI's chat | {statistics.median(chat):.0f} µs | 1.00 |",
    ]
    for scenario in APIS:
        found = cpu_us[scenario.name]
        ratio = statistics.median(one / other for one, other in zip(found, chat, strict=True))
        lines.append(f"| {scenario.title} | {statistics.median(found):.0f} µs | {ratio:.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
