"""`make bench-decision`: what one decision takes with 1, 8, 64 and 500 candidates, in microseconds.

A decision is all of `FallbackRouter.decide`: who may be asked, what the request would take there, who is best. Each
figure is the median of several rounds, as other work shares the machine; the targets are for the compiled form.
"""

import argparse
import gc
import statistics

from benchmarks.decision.situations import SITUATIONS, Decision
from benchmarks.decision.timing import rounds_us
from heterodyne.telemetry.build_form import build_form

CANDIDATES = (1, 8, 64, 500)
TARGETS_US = {8: 30.0, 64: 60.0, 500: 150.0}  # of the compiled form
OF = 8  # what ratios are to
ROUNDS, ROUND_S = 9, 0.02


def main() -> None:
    """One line for each situation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--situation", choices=SITUATIONS, action="append", help="only this one")
    situations = parser.parse_args().situation or list(SITUATIONS)
    targets = ", ".join(f"{us:g} us of {candidates}" for candidates, us in TARGETS_US.items())
    print(f"{build_form()} form; microseconds per decision, and the ratio to {OF} candidates; compiled: {targets}")
    print(f"{'candidates':16}", *(f"{candidates:>15}" for candidates in CANDIDATES))
    gc.collect()
    gc.freeze()
    for situation in situations:
        found = {candidates: _decision_us(SITUATIONS[situation](candidates)) for candidates in CANDIDATES}
        cells = (f"{us:8.1f} ({us / found[OF]:4.2f})" for us in found.values())
        print(f"{situation:16}", *cells, flush=True)


def _decision_us(decision: Decision) -> float:
    return statistics.median(rounds_us(decision.decide, rounds=ROUNDS, round_s=ROUND_S))


if __name__ == "__main__":
    main()
