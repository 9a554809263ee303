"""Hours of real clients, from ServeGen's public trace, and hours that are drawn at random."""

import json
import random
import tarfile
from ast import literal_eval
from collections.abc import Iterator, Sequence
from csv import reader
from io import TextIOWrapper
from math import exp
from pathlib import Path
from typing import Final

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse.cost_anomaly import CostAnomaly
from heterodyne.safety.abuse.settings import AbuseSettings

FILE: Final = "traces/servegen_m-small.tar.xz"
PREFIX: Final = "language/m-small/chunk-"
STEP_S: Final = 600
MIX_S: Final = 21_600  # for which ServeGen tells how long prompts and answers were
USD_PER_INPUT: Final = 0.15e-6
USD_PER_OUTPUT: Final = 0.60e-6
HOUR_S: Final = 3600
WARM_UP_DAYS: Final = 7  # before a key is stolen in the experiment


def clients_of(data: Path) -> dict[str, list[float]]:
    """Dollars of each client in each ten minutes of two weeks."""
    found = {}
    with tarfile.open(data / FILE) as archive:
        names = set(archive.getnames())
        for name in sorted(names):
            if not name.startswith(PREFIX) or not name.endswith("-trace.csv"):
                continue
            client = name.removeprefix(PREFIX).removesuffix("-trace.csv")
            mix = f"{PREFIX}{client}-dataset.json"
            usd_each = _usd_of_requests(archive, mix) if mix in names else {}
            usual = sum(usd_each.values()) / len(usd_each) if usd_each else 1e-3
            file = archive.extractfile(name)
            assert file is not None
            rows = [(float(row[0]), float(row[1])) for row in reader(TextIOWrapper(file))]
            spent = [rate * STEP_S * usd_each.get(int(at // MIX_S), usual) for at, rate in rows]
            if any(spent):
                found[client] = spent
    return found


def _usd_of_requests(archive: tarfile.TarFile, name: str) -> dict[int, float]:
    """What a request costs on average, by the quarter of a day."""
    file = archive.extractfile(name)
    assert file is not None
    found = {}
    for at, mix in json.load(file).items():
        tokens = [_mean(mix[kind]) for kind in ("input_tokens", "output_tokens")]
        if all(tokens):
            found[int(at) // MIX_S] = tokens[0] * USD_PER_INPUT + tokens[1] * USD_PER_OUTPUT
    return found


def _mean(histogram: str) -> float:
    """ServeGen writes a Python dictionary into a string."""
    counts = {float(key): float(value) for key, value in literal_eval(histogram).items()}
    whole = sum(counts.values())
    return sum(length * count for length, count in counts.items()) / whole if whole else 0.0


def alarms(steps: Sequence[float], settings: AbuseSettings, *, step_s: float = STEP_S) -> list[float]:
    """When a key that spends so is found, in hours from its beginning; once an hour at most."""
    watch, found = CostAnomaly("cost", settings), []
    for place, usd in enumerate(steps):
        at = 1_000_000 * HOUR_S + place * step_s
        if usd > 0 and watch.observe(AbuseSign("k", "a/b", "m", "m", at, usd)):
            hour = place * step_s / HOUR_S
            if not found or int(found[-1]) != int(hour):
                found.append(hour)
    return found


def stolen(steps: Sequence[float], factor: float, rng: random.Random) -> tuple[list[float], int]:
    """The same with a thief, who makes it `factor` times the mean for a day of the second week; from which step on."""
    active = [usd for usd in steps if usd > 0]
    more = (factor - 1) * sum(active) / len(active)
    begin = rng.randrange(WARM_UP_DAYS * 24 * 6, len(steps) - 24 * 6)
    return [usd + (more if begin <= place < begin + 24 * 6 else 0.0) for place, usd in enumerate(steps)], begin


def drawn_hours(rng: random.Random, spread: float, days: int, *, tail: float = 0.0) -> Iterator[float]:
    """Hours of a key whose logarithms are normal, with a daily wave; `tail` of them are three times as far off."""
    for hour in range(days * 24):
        wide = 3.0 if rng.random() < tail else 1.0
        wave = 0.5 if 8 <= hour % 24 < 20 else -0.5
        yield exp(rng.gauss(wave, spread * wide))
