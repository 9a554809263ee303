"""The loads: four that the rules were shaped with, and others, most of them public, that no figure was chosen on."""

import csv
import io
import json
import lzma
import tarfile
from collections.abc import Callable, Iterator, Sequence
from math import cos, exp, pi
from pathlib import Path
from random import Random

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.registry.request_log.read import read_request_log

HOUR_S, DAY_S = 3600.0, 86_400.0
PROMPT_TOKENS, PROMPT_SPREAD = 600, 0.8  # the median, and the spread of the logarithm
OUTPUT_TOKENS, OUTPUT_SPREAD = 350, 0.7
STEP_S = 600.0


class Load(Struct, frozen=True, kw_only=True):
    """Requests as they come, and from when on they are judged."""

    name: str
    title: str
    is_seen: bool  # whether the rules were shaped with it
    requests: Callable[[], list[TraceRequest]]
    warm_up_s: float
    past: tuple[float, ...] = ()  # requests a second of the days before, by ten minutes
    minimum: int = 1


def loads(data: Path) -> dict[str, Load]:
    """All of them, the seen ones first."""
    return {one.name: one for one in (*_seen(), *_unseen(data))}


def _seen() -> Iterator[Load]:
    yield _drawn("step", "a step up and one down, 2 h", steps((0, 2.0), (40, 5.0), (80, 2.5)), 2 * HOUR_S, seed=11)
    yield _drawn("ramp", "an hour's rise and fall, 2 h", _ramp, 2 * HOUR_S, seed=12)
    yield _drawn("flash crowd", "three times as many within a minute, 2 h", _flash, 2 * HOUR_S, seed=13)
    yield Load(
        name="day",
        title="a day with two of history: quiet at night, a peak in the afternoon",
        is_seen=True,
        requests=lambda: drawn_from(lambda at_s: _days(at_s + 2 * DAY_S), DAY_S, 14),
        warm_up_s=1800.0,
        past=tuple(_days(step * STEP_S) for step in range(288)),
    )
    yield _drawn("naps", "an hour of quiet between moments of work, 12 h", _naps, 12 * HOUR_S, seed=15, minimum=0)


def _unseen(data: Path) -> Iterator[Load]:
    others = steps((0, 1.5), (25, 3.5), (50, 7.0), (90, 3.0))
    yield _drawn(
        "more naps",
        "such moments for four days, by another chance",
        _naps,
        4 * DAY_S,
        seed=16,
        is_seen=False,
        minimum=0,
    )
    yield _drawn("other steps", "three steps of other heights, 2 h", others, 2 * HOUR_S, is_seen=False, seed=21)
    folder = data / "autoscaling"
    if not folder.is_dir():
        raise InvalidSpec(f"{folder}: no such folder; say with --data where the shared data is")
    yield _given("AIBrix", "25 minutes of AIBrix's own autoscaling runs", lambda: _aibrix(folder))
    yield _given("AIBrix 8 min", "up and down within 8 minutes, with its texts' lengths", lambda: _aibrix_8(data))
    azure = data / "traces" / "azure_llm_2023_conv.csv.gz"
    yield _given("Azure", "an hour of Azure's conversations", lambda: _from_zero(read_request_log(azure)))
    yield Load(
        name="GenTD26",
        title="9 hours of Alibaba's image gateway, half as many again",
        is_seen=False,
        requests=lambda: drawn_from(by_steps(_gentd26(folder)), 9 * HOUR_S, 22),
        warm_up_s=1800.0,
    )
    rates = servegen(data)
    day = 8
    yield Load(
        name="ServeGen",
        title="12 hours of the ninth day of ServeGen's m-small, with eight days of history",
        is_seen=False,
        requests=lambda: drawn_from(by_steps(rates[day * 144 :]), 12 * HOUR_S, 23),
        warm_up_s=1800.0,
        past=tuple(rates[: day * 144]),
    )


def _drawn(
    name: str,
    title: str,
    rate: Callable[[float], float],
    span_s: float,
    *,
    seed: int,
    warm_up_s: float = 600.0,
    is_seen: bool = True,
    minimum: int = 1,
) -> Load:
    return Load(
        name=name,
        title=title,
        is_seen=is_seen,
        requests=lambda: drawn_from(rate, span_s, seed),
        warm_up_s=warm_up_s,
        minimum=minimum,
    )


def _given(name: str, title: str, requests: Callable[[], list[TraceRequest]]) -> Load:
    return Load(name=name, title=title, is_seen=False, requests=requests, warm_up_s=180.0)


def _from_zero(log: Sequence[TraceRequest]) -> list[TraceRequest]:
    """A log's clock begins with its first request."""
    ordered = sorted(log, key=lambda one: one.at_s)
    return [structs.replace(one, at_s=one.at_s - ordered[0].at_s) for one in ordered]


def drawn_from(rate: Callable[[float], float], span_s: float, seed: int) -> list[TraceRequest]:
    """By chance at this rate, by thinning within every ten seconds."""
    chance, log, at_s = Random(seed), [], 0.0
    while at_s < span_s:
        now = rate(at_s)
        end_s = at_s + 10.0
        next_s = at_s
        while now > 0 and (next_s := next_s + chance.expovariate(now)) < end_s:
            log.append(drawn_request(next_s, chance))
        at_s = end_s
    return log


def drawn_request(at_s: float, chance: Random) -> TraceRequest:
    """One of the usual lengths."""
    prompt = PROMPT_TOKENS * chance.lognormvariate(0.0, PROMPT_SPREAD)
    output = OUTPUT_TOKENS * chance.lognormvariate(0.0, OUTPUT_SPREAD)
    return TraceRequest(
        at_s=at_s,
        prompt_tokens=round(min(PROMPT_TOKENS * 8, max(8.0, prompt))),
        output_tokens=round(min(OUTPUT_TOKENS * 6, max(4.0, output))),
    )


def steps(*levels: tuple[float, float]) -> Callable[[float], float]:
    """So many a second from these minutes on."""
    return lambda at_s: next(rate for minute, rate in reversed(levels) if at_s >= minute * 60)


def _ramp(at_s: float) -> float:
    minute = at_s / 60
    if minute < 10 or minute > 110:
        return 1.0
    return 1.0 + 6.0 * (min(minute - 10, 50) / 50 if minute < 75 else (110 - minute) / 35)


def _flash(at_s: float) -> float:
    since_s = at_s - 45 * 60
    if since_s < 0:
        return 2.5
    return 2.5 + 5.0 * min(1.0, since_s / 60) * (1.0 if since_s < 600 else exp(-(since_s - 600) / 300))


def _days(at_s: float) -> float:
    """Quiet at four in the morning, a peak in the afternoon, every ten minutes a little different."""
    hour = at_s / HOUR_S % 24
    noise = Random(int(at_s // STEP_S)).lognormvariate(0.0, 0.08)
    return (1.8 - 1.3 * cos((hour - 4) / 24 * 2 * pi) + 0.3 * max(0.0, cos((hour - 15) / 24 * 4 * pi))) * noise


def _naps(at_s: float) -> float:
    minute = at_s / 60 % 70
    return 0.35 if 5 <= minute < 12 else 0.0


def by_steps(rates: Sequence[float]) -> Callable[[float], float]:
    """Straight between the middles of ten minutes."""

    def rate(at_s: float) -> float:
        place = at_s / STEP_S - 0.5
        low = max(0, min(len(rates) - 1, int(place)))
        high = min(len(rates) - 1, low + 1)
        return rates[low] + (rates[high] - rates[low]) * min(1.0, max(0.0, place - low))

    return rate


def _aibrix(folder: Path) -> list[TraceRequest]:
    """Its times; the lengths are drawn, as the runs tell only their means."""
    with tarfile.open(folder / "aibrix_25min_vke_0.tar.xz", "r:xz") as archive:
        for member in archive:
            if member.name.endswith("intended_traffic.csv"):
                file = archive.extractfile(member)
                assert file is not None
                chance = Random(31)
                rows = csv.reader(io.StringIO(file.read().decode()))
                return [drawn_request(float(row[0]), chance) for row in rows for _ in range(int(row[1]))]
    raise InvalidSpec(f"{folder}: no intended_traffic.csv in the archive of AIBrix")


def _aibrix_8(data: Path) -> list[TraceRequest]:
    log = []
    with lzma.open(data / "traces" / "aibrix_sharegpt_text_8min_up_and_down.jsonl.xz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            log += [
                TraceRequest(
                    at_s=row["timestamp"] / 1000,
                    prompt_tokens=max(1, one["Prompt Length"] or 1),
                    output_tokens=max(1, one["Output Length"] or 1),
                )
                for one in row["requests"]
            ]
    return log


def _gentd26(folder: Path) -> list[float]:
    """Requests a second at the gateway by ten minutes, half as many again."""
    sums: dict[int, list[float]] = {}
    with lzma.open(folder / "gentd26_qps.csv.xz", "rt") as file:
        for row in csv.DictReader(file):
            if row["request_type"] == "API Requests":
                sums.setdefault(int(float(row["timestamp_anon"]) // STEP_S), []).append(float(row["value"]))
    first = min(sums)
    means = [sums.get(first + place, [0.1]) for place in range(int(9 * HOUR_S / STEP_S) + 1)]
    return [1.5 * sum(one) / len(one) for one in means]


def servegen(data: Path) -> list[float]:
    """A six-hundredth of the total rate."""
    with (data / "traces" / "servegen_m-small_total_rate.csv").open() as file:
        return [float(row["total_rate_req_per_s"]) / 600 for row in csv.DictReader(file)]
