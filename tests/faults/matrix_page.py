"""Runs the fault matrix and writes it down: `make faults`, or `python -m tests.faults.matrix_page FILE`."""

import asyncio
import sys
import tempfile
from pathlib import Path

import uvloop

from tests.faults.kv_rows import BOUND_S, FAULTS, KvSeen, run_kv_row
from tests.faults.matrix import DEADLINE_S, ROWS, Seen, run_row
from tests.faults.warm_up_rows import WARM_UP_BOUND_S, WARM_UP_FAULTS, WarmUpSeen, run_warm_up_row

HEAD = f"""\
# Fault matrix

Written by `make faults`; do not edit. Every row is also a test (`tests/faults/test_matrix.py`).

A replica fails in one way while a request with a deadline of {DEADLINE_S:g} s is sent to it: *alone*, with no other
replica, and *beside* a healthy one. First-token and stall limits are 0.6 s here (300 and 60 s by default), so times say
which limit ended a wait, not how fast a machine is. *Beside* must always be 200 with every word once: `retry` went
elsewhere before the first token, `continued` took a broken stream up where the client's text ended. *Known as* is the
failing replica's breaker, and what keeps work away from it, after twelve more requests at once.

| Fault | Answer | Alone | after s | Beside | after s | How | Known as |
|---|---|---|---:|---|---:|---|---|
"""


KV_HEAD = """
## KV that does not come

One replica was to compute a prompt for another, or to hand it over, and fails. The other computes it: the answer must
be 200 with every word that is said without any of it, and nothing may stay held. The bound is that of the forecast,
here {bound:.2f} s; of an answer that comes whole nothing is seen before its end, so its own time belongs to it, too.
*Known as* is what keeps prompts from the replica that was to compute them, after five more at once.

| Fault | Answer | Whole | after s | Known as | Held afterwards |
|---|---|---|---:|---|---|
"""


WARM_UP_HEAD = """
## New replicas that are warmed up

A second replica comes, is given the hottest prompts before it takes traffic, and fails at it. Users are answered by the
first meanwhile; the bound of `kv_warm_up_s` is {bound:.2f} s here. Nothing may stay of it when it is gone.

| The new replica | Its prompts | It is then | after s | Answered meanwhile | Held afterwards |
|---|---|---|---:|---|---|
"""


def render_warm_up(seen: list[WarmUpSeen]) -> str:
    """The part of the page."""
    lines = [
        f"| {one.row} | {one.outcome or '–'} | {one.health or 'gone'} | {one.after_s:.2f} | {one.answered} of 5 "
        f"| {'**yes**' if one.held else 'nothing'} |\n"
        for one in seen
    ]
    return WARM_UP_HEAD.format(bound=WARM_UP_BOUND_S) + "".join(lines)


async def kv_matrix() -> list[KvSeen]:
    """Every row, whole and streamed."""
    return [await run_kv_row(row, is_stream=is_stream) for row in FAULTS for is_stream in (False, True)]


def render_kv(seen: list[KvSeen]) -> str:
    """The part of the page."""
    lines = [
        f"| {one.row} | {'stream' if one.is_stream else 'whole'} | {'yes' if one.is_whole else '**words lost**'} "
        f"| {one.took_s:.2f} | {one.known_as or '–'} | {'**yes**' if one.held else 'nothing'} |\n"
        for one in seen
    ]
    return KV_HEAD.format(bound=BOUND_S) + "".join(lines)


async def matrix(folder: Path) -> list[Seen]:
    """Every row, whole and streamed."""
    return [
        await run_row(row, is_stream=is_stream, folder=folder / f"{number}-{is_stream}")
        for number, row in enumerate(ROWS)
        for is_stream in (False, True)
    ]


def render(seen: list[Seen]) -> str:
    """The page."""
    return HEAD + "".join(map(_line, seen))


def _line(one: Seen) -> str:
    how = ", ".join(
        word for word, count in (("retry", one.retries), ("continued", one.continuations)) for _ in range(min(count, 1))
    )
    cells = (
        one.row,
        "stream" if one.is_stream else "whole",
        _end(one.alone),
        f"{one.alone_s:.2f}",
        _end(one.beside) + ("" if one.is_whole else " **words lost**"),
        f"{one.beside_s:.2f}",
        how or "–",
        one.breaker,
    )
    return f"| {' | '.join(cells)} |\n"


def _end(end: tuple[int, str]) -> str:
    status, reason = end
    return f"{status} `{reason}`" if reason else str(status)


def main() -> None:
    """The command line of this module."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.faults.matrix_page FILE")
    with tempfile.TemporaryDirectory() as folder:
        page = uvloop.run(_bounded(Path(folder)))
    Path(sys.argv[1]).write_text(page, encoding="utf-8")
    print(page)


async def _bounded(folder: Path) -> str:
    async with asyncio.timeout(600):
        warm_ups = [await run_warm_up_row(row) for row in WARM_UP_FAULTS]
        return render(await matrix(folder)) + render_kv(await kv_matrix()) + render_warm_up(warm_ups)


if __name__ == "__main__":
    main()
