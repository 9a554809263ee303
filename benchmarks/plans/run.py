"""`make bench-plans`: are recommended fleets good enough, and are they cheap? Writes its table into the docs."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import msgspec

from benchmarks.plans.cases import Case, cases
from benchmarks.plans.judge import Judgement, judge
from benchmarks.plans.page import PAGE, page
from benchmarks.plans.pictures import FLEETS, FRONTIER, fleets_picture, frontier_picture
from benchmarks.plans.wins import WINS, wins_picture


def main() -> None:
    """Case by case; with `--only` a part of them and no page; with `--keep` in as many parts as one likes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="WORD", help="cases whose model, level or traffic it is; no page is written")
    parser.add_argument(
        "--from", dest="kept", type=Path, metavar="FILE", help="write the page of judgements kept before"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="keep judgements there, and leave out cases that are in it already"
    )
    parser.add_argument("--minutes", type=float, metavar="M", help="begin no case later; go on with --keep")
    options = parser.parse_args()
    if options.kept:
        write(msgspec.json.decode(options.kept.read_bytes(), type=list[Judgement]))
        return
    judgements = _kept(options.keep)
    began_s, left = monotonic(), _left(judgements, options.only)
    while left and not (options.minutes and monotonic() - began_s > options.minutes * 60):
        one = judge(left.pop(0))
        judgements.append(one)
        print(_line(one), flush=True)
        if options.keep:
            options.keep.write_bytes(msgspec.json.encode(judgements))
    if left:
        print(f"{len(left)} cases are left")
    elif not options.only:
        write(judgements)


def _kept(file: Path | None) -> list[Judgement]:
    if file is None or not file.exists():
        return []
    return msgspec.json.decode(file.read_bytes(), type=list[Judgement])


def _left(judgements: Sequence[Judgement], only: str | None) -> list[Case]:
    done = [one.case for one in judgements]
    asked = (case for case in cases() if not only or only in (case.model, case.level, case.traffic.name))
    return [case for case in asked if case not in done]


def _line(one: Judgement) -> str:
    case = one.case
    return (
        f"{case.model} {case.level} {case.traffic.name}: {one.fleet} {one.usd_per_hour:.2f} USD/h, planned "
        f"{one.planned_share:.3f}, judged {one.judged_share:.4f}; cheapest {one.cheapest} "
        f"{one.cheapest_usd_per_hour:.2f} of {one.searched} searched{'' if one.is_whole else ' (cut)'}, "
        f"{one.usd_per_hour / one.cheapest_usd_per_hour - 1:+.0%}; planned in {one.cpu_s:.1f} s, "
        f"all in {one.judged_s:.0f} s of processor time"
    )


def write(judgements: Sequence[Judgement]) -> None:
    """The page and its pictures, in the order of the cases."""
    order = list(cases())
    ordered = sorted(judgements, key=lambda one: order.index(one.case))
    PAGE.write_text(page(ordered), encoding="utf-8")
    FLEETS.write_text(fleets_picture(ordered), encoding="utf-8")
    FRONTIER.write_text(frontier_picture(), encoding="utf-8")
    WINS.write_text(wins_picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
