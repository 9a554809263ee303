"""Runs every kind of chaos and writes down what was seen: `make chaos`, or `python -m tests.chaos.chaos_page FILE`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import uvloop

from tests.chaos.clock_cases import CLOCK
from tests.chaos.machine_cases import MACHINE
from tests.chaos.rig import gateway
from tests.chaos.seen import Case, Seen
from tests.chaos.store_cases import STORE, shop

HEAD = """\
# Chaos

Written by `make chaos`; do not edit. Every row is also a test (`tests/chaos`).

A real `heterodyne serve` is deprived of something while it serves, and given it back. *Requests* is what a client with
a key of a project without limits saw meanwhile, *changes* what an operator who issued a key did. *Reported* is where it
can be read: an event of the log, a metric, or the answer itself. In *afterwards* no operator has restarted or repaired
the gateway: *well* means that requests and changes succeed and that the supervisor hears of its workers.

Disk and database cases run on a small disk of their own, descriptors and memory are taken by resource limits of the
running processes, and clocks are set through the gateway's own port for them, never on the machine.

| What happens | Exactly | Requests | Changes | Reported | Afterwards |
|---|---|---|---|---|---|
"""


def rows() -> Iterator[tuple[Case, Seen]]:
    """Each case, one after the other."""
    with gateway() as one:
        for case in MACHINE:
            one.begin()
            yield case, case.run(one)
    with shop() as other:
        for case in STORE:
            other.gateway.begin()
            yield case, case.run(other)
    for case in CLOCK:
        yield case, uvloop.run(case.run())


def main() -> None:
    """The command line of this module."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.chaos.chaos_page FILE")
    page = HEAD
    for case, seen in rows():
        cells = (case.name, case.what, seen.requests, seen.changes, seen.said, seen.after)
        page += f"| {' | '.join(cells)} |\n"
        print(case.name, "-", seen.after, file=sys.stderr)
    Path(sys.argv[1]).write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
