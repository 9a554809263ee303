"""False findings on ordinary traffic, planted abuse that is found, and the cost of watching, as a page.

python -m benchmarks.abuse --data FOLDER [--write docs/abuse-accuracy.md]
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.abuse import clients, cost
from benchmarks.abuse.prompts import HASHER, campaign, conversations, evaluations, judged_pairs, spread
from benchmarks.abuse.report import page
from benchmarks.abuse.results import CampaignRow, ClientRows, OrdinaryRow, Results, Reworded, TheftRow
from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse.extraction import Extraction
from heterodyne.safety.abuse.minhash import similarity
from heterodyne.safety.abuse.prompt_words import words_of
from heterodyne.safety.abuse.settings import SIMILARITY_MIN, WORDS_MIN, AbuseSettings
from heterodyne.safety.abuse.similar_prompts import SimilarPrompts

TEXTS_MAX: Final = 20_000  # of one source
USERS: Final = 100
PROMPTS_EACH: Final = 20
REPEATS: Final = 10
CHANGED: Final = (0.0, 0.1, 0.2, 0.25, 0.3, 0.4)
FACTORS: Final = (3.0, 5.0, 10.0, 30.0)
STEPS_MIN: Final = 300  # with spending, of a client that a thief is planted into
SPREADS: Final = (0.2, 0.5, 1.0)
DRAWN_KEYS, DRAWN_DAYS = 120, 60
COST: Final = AbuseSettings(watch="cost", usd_min=0.0)


def found_keys(signs: Sequence[AbuseSign]) -> dict[str, int]:
    """The keys that are found with the defaults, and how many prompts each had sent by then."""
    watch, sent, found = SimilarPrompts("one", AbuseSettings(watch="similar_prompts")), {}, {}
    for sign in sorted(signs, key=lambda one: one.at):
        sent[sign.key] = sent.get(sign.key, 0) + 1
        for finding in watch.observe(sign):
            found.setdefault(finding.key, sent[finding.key])
    return found


def ordinary(texts: dict[str, list[str]], rng: random.Random) -> list[OrdinaryRow]:
    """Each source as an hour of a hundred users."""
    rows = []
    for name, every in texts.items():
        chosen = every if len(every) <= TEXTS_MAX else rng.sample(every, TEXTS_MAX)
        signs = spread(chosen, USERS, rng)
        series = Extraction("one", AbuseSettings(watch="extraction"))
        copied = {found.key for sign in sorted(signs, key=lambda one: one.at) for found in series.observe(sign)}
        verbatim = sum(sign.is_verbatim for sign in signs)
        rows.append(OrdinaryRow(name, len(chosen), len(found_keys(signs)), len(copied), verbatim))
    return rows


def campaigns(background: Sequence[AbuseSign], words: Sequence[str], rng: random.Random) -> list[CampaignRow]:
    """A template over five and twenty keys among ordinary prompts, the more of its words changed the lower."""
    rows = []
    for keys in (5, 20):
        for changed in CHANGED:
            thieves, innocent, needed = 0, 0, []
            for _ in range(REPEATS):
                found = found_keys([*background, *campaign(keys, PROMPTS_EACH, changed, words, rng)])
                caught = [prompts for key, prompts in found.items() if key.startswith("thief")]
                thieves += len(caught)
                innocent += len(found) - len(caught)
                needed += caught
            needed.sort()
            median = needed[len(needed) // 2] if needed else None
            rows.append(CampaignRow(keys, changed, thieves / (keys * REPEATS), median, innocent))
    return rows


def reworded(data: Path) -> Reworded:
    """How many pairs of either kind are nearly one."""
    alike: dict[bool, list[bool]] = {True: [], False: []}
    for one, other, is_same in judged_pairs(data):
        both = words_of(one), words_of(other)
        if min(map(len, both)) >= WORDS_MIN:
            signatures = map(HASHER.signature, both)
            alike[is_same].append(similarity(*signatures) >= SIMILARITY_MIN)
    same, others = alike[True], alike[False]
    return Reworded(len(same), sum(same) / len(same), len(others), sum(others) / len(others))


def thefts(spent: dict[str, list[float]], rng: random.Random) -> list[TheftRow]:
    """Each of the busier clients, stolen once."""
    busy = [steps for steps in spent.values() if sum(usd > 0 for usd in steps) >= STEPS_MIN]
    rows = []
    for factor in FACTORS:
        waits = []
        for steps in busy:
            stolen, begin = clients.stolen(steps, factor, rng)
            after = [hour - begin / 6 for hour in clients.alarms(stolen, COST) if hour >= begin / 6]
            if after and after[0] < 24:
                waits.append(after[0])
        waits.sort()
        rows.append(TheftRow(factor, len(busy), len(waits), waits[len(waits) // 2] if waits else None))
    return rows


def drawn_alarms(rng: random.Random) -> dict[float, float]:
    """False alarms of a key in a year, by the spread of its hours."""
    settings = AbuseSettings(watch="cost", usd_min=0.0, factor_min=1.0)
    found = {}
    for wide in SPREADS:
        alarms = sum(
            len(clients.alarms([*clients.drawn_hours(rng, wide, DRAWN_DAYS)], settings, step_s=clients.HOUR_S))
            for _ in range(DRAWN_KEYS)
        )
        found[wide] = alarms / (DRAWN_KEYS * (DRAWN_DAYS - 1) / 365.25)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    talk, tests = conversations(options.data), evaluations(options.data)
    words = [word for word in " ".join(talk["Quora questions"][:3000]).split() if word.isalpha()]
    spent = clients.clients_of(options.data)
    alarms = {client: clients.alarms(steps, COST) for client, steps in spent.items()}
    results = Results(
        ordinary=ordinary(talk, rng),
        evaluations=ordinary(tests, rng),
        campaigns=campaigns(spread(talk["ShareGPT"], USERS, rng), words, rng),
        reworded=reworded(options.data),
        drawn=drawn_alarms(rng),
        clients=ClientRows(
            len(spent),
            sum(usd > 0 for steps in spent.values() for usd in steps) / 6,
            sum(map(len, alarms.values())),
            sum(1 for found in alarms.values() if found),
        ),
        thefts=thefts(spent, rng),
        costs=cost.measured(talk["ShareGPT"]),
    )
    text = page(results)
    if options.write is None:
        print(text)
    else:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
