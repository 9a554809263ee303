"""`make bench-plans`: are recommended fleets good enough, and are they cheap? Writes its table into the docs."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.plans.cases import cases
from benchmarks.plans.judge import Judgement, judge
from benchmarks.plans.page import PAGE, page
from benchmarks.plans.pictures import FLEETS, FRONTIER, fleets_picture, frontier_picture


def main() -> None:
    """Case by case; with `--only` a part of them and no page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="WORD", help="cases whose model, level or traffic it is; no page is written")
    parser.add_argument(
        "--from", dest="kept", type=Path, metavar="FILE", help="write the page of judgements kept before"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the judgements")
    options = parser.parse_args()
    if options.kept:
        write(msgspec.json.decode(options.kept.read_bytes(), type=list[Judgement]))
        return
    judgements = []
    for case in cases():
        if options.only and options.only not in (case.model, case.level, case.traffic.name):
            continue
        one = judge(case)
        judgements.append(one)
        print(
            f"{case.model} {case.level} {case.traffic.name}: {one.fleet} {one.usd_per_hour:.2f} USD/h, planned "
            f"{one.planned_share:.3f}, judged {one.judged_share:.4f}; cheapest {one.cheapest} "
            f"{one.cheapest_usd_per_hour:.2f} of {one.searched} searched{'' if one.is_whole else ' (cut)'}, "
            f"{one.usd_per_hour / one.cheapest_usd_per_hour - 1:+.0%}; planned in {one.cpu_s:.1f} s",
            flush=True,
        )
    if options.json:
        options.json.write_bytes(msgspec.json.encode(judgements))
    if not options.only:
        write(judgements)


def write(judgements: Sequence[Judgement]) -> None:
    """The page and its pictures."""
    PAGE.write_text(page(judgements), encoding="utf-8")
    FLEETS.write_text(fleets_picture(judgements), encoding="utf-8")
    FRONTIER.write_text(frontier_picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
