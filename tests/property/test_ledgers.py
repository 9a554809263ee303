"""Whatever clients, engines and operators do: afterwards nothing is held for anybody, and the books are what was sent.

`LEDGER_SEEDS=500` plays so many lives instead of a few. Each is named by its seed, though sockets and clocks
have their part in it too.
"""

import asyncio
import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest
import uvloop

from heterodyne.domain.record import RequestRecord
from heterodyne.domain.tenant import ProjectId
from tests.support.ledger_world import (
    CONTEXT_TOKENS,
    ENGINES,
    KEYS,
    OTHER,
    PATHS,
    Asked,
    Behave,
    Fate,
    LeasesAway,
    Outage,
    Pause,
    Reload,
    Seen,
    Step,
    World,
    project,
)
from tests.support.minutes import today
from tests.support.requests import MODEL

SEEDS = range(int(os.environ.get("LEDGER_SEEDS", "10")))
EACH_MAX = 3  # tokens of an event
STEPS_MIN, STEPS_MAX = 30, 90


@pytest.mark.parametrize("seed", SEEDS)
def test_after_anything_every_ledger_is_at_zero_and_the_books_equal_what_was_streamed(
    seed: int, tmp_path: Path
) -> None:
    world = World(tmp_path)
    random = Random(seed)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(world.play(_plan(random), end=random.choice(("quiet", "quiet", "drain", "cut"))))
    records = {record.id: record for record in world.records}
    assert len(records) == len(world.records), "a request ends once"
    _check_answers(world, records)
    _check_books(world, records)
    _check_limits(world)


def _check_answers(world: World, records: dict[str, RequestRecord]) -> None:
    for seen in world.seen:
        if not seen.id:
            assert seen.has_left or seen.is_broken or seen.asked.broken, f"no answer: {seen}"
            continue
        record = records[seen.id]
        if record.reason == "" and record.stream:
            assert seen.is_done or seen.has_left or seen.is_broken, seen
        if seen.status == 200:
            _check_tokens(world, seen, record)


def _check_tokens(world: World, seen: Seen, record: RequestRecord) -> None:
    """Nobody is charged for more than engines sent, or less than it was given."""
    told = f"{seen} {record}"
    if record.is_estimated:
        most = (EACH_MAX + 1) * world.sent[seen.id]
        assert seen.events - 3 <= record.completion_tokens <= most, told
    elif seen.asked.route in ("chat", "completion") and seen.is_done:
        # Of a stream that another replica went on with, what the first had said is counted by its events.
        least = seen.words / EACH_MAX if record.continuations else seen.words
        assert least <= record.completion_tokens <= (EACH_MAX if record.continuations else 1) * seen.words, told


def _check_books(world: World, records: dict[str, RequestRecord]) -> None:
    """What the store gets is what was written down of known callers, each once, to the token."""
    booked = Counter(record.id for record in world.booked)
    assert not [id for id, times in booked.items() if times > 1]
    for usage in world.booked:
        record = records[usage.id]
        assert (usage.prompt_tokens, usage.completion_tokens) == (record.prompt_tokens, record.completion_tokens)
        assert (usage.status, usage.reason) == (record.status, record.reason)
    assert booked.keys() == {record.id for record in world.records if record.tenant}


def _check_limits(world: World) -> None:
    """What limits have counted is what the books say, and no place is taken."""
    for key in KEYS:
        name = project(key)
        mine = [record for record in world.records if record.tenant == name]
        tokens = sum(record.prompt_tokens + record.completion_tokens for record in mine)
        level = f"project:{ProjectId(name)}"
        assert world.leases.used(f"{level} tokens_per_day", today()) == tokens
        assert world.leases.used(f"{level} concurrent_requests", 0) == 0
        counted = world.leases.used(f"{level} requests_per_day", today())
        answered = [one for one in mine if one.prompt_tokens or one.status == 200]
        assert len(answered) <= counted <= len(mine)


def _plan(random: Random) -> list[Step]:
    """A short life: engines of all kinds, clients of all kinds, and an operator who cannot let things be."""
    steps: list[Step] = [Behave(number, _fate(random)) for number in range(ENGINES) if random.random() < 0.5]
    for _ in range(random.randint(STEPS_MIN, STEPS_MAX)):
        kind = random.choices(("ask", "behave", "reload", "outage", "leases", "pause"), (50, 12, 5, 2, 2, 20))[0]
        if kind == "ask":
            steps += [_asked(random) for _ in range(random.randint(1, 5))]
        elif kind == "behave":
            steps.append(Behave(random.randrange(ENGINES), _fate(random)))
        elif kind == "reload":
            steps.append(_reload(random))
        elif kind == "outage":
            steps.append(Outage(random.randrange(ENGINES), random.choice((0.02, 0.3))))
        elif kind == "leases":
            steps.append(LeasesAway(random.choice((0.02, 0.2))))
        else:
            steps.append(Pause(random.choice((0.001, 0.01, 0.05, 0.1))))
    return steps


def _fate(random: Random) -> Fate:
    return Fate(
        status=200 if random.random() < 0.8 else random.choice((400, 404, 422, 429, 500, 503)),
        tokens=random.choice((0, 1, 3, 10, 40)),
        each=random.choice((1, 1, 1, EACH_MAX)),
        delay_s=random.choice((0.0, 0.0, 0.01, 0.05, 0.2)),
        pace_s=random.choice((0.0, 0.002, 0.02)),
        ending="whole" if random.random() < 0.6 else random.choice(("close", "reset", "garbage", "hang", "error")),
        counts=random.random() < 0.8,
    )


def _asked(random: Random) -> Asked:
    leaves = random.random()
    return Asked(
        route="chat" if random.random() < 0.8 else random.choice(tuple(PATHS)),
        model=MODEL if random.random() < 0.8 else random.choice(("alias", "law", "art", OTHER, "nobody")),
        key=random.choice(KEYS) if random.random() < 0.96 else "stranger",
        stream=random.random() < 0.6,
        prompt_chars=random.choice((1, 10, 10, 10, 4000, 6 * CONTEXT_TOKENS, 33 * CONTEXT_TOKENS)),
        max_tokens=None if random.random() < 0.7 else random.choice((1, 50, CONTEXT_TOKENS, 10 * CONTEXT_TOKENS)),
        choices=random.choice((1, 1, 1, 2)),
        urgency=random.choice(("", "", "", "", "batch", "background")),
        deadline_ms=None if random.random() < 0.85 else random.choice((20, 200)),
        broken="" if random.random() < 0.93 else random.choice(("json", "field", "half")),
        times=random.choice((1, 1, 1, 3)),
        leaves_after_s=random.choice((0.0, 0.005, 0.02, 0.1, 0.3)) if leaves < 0.2 else None,
        leaves_after_events=random.choice((1, 2, 5, 12)) if leaves > 0.85 else None,
    )


def _reload(random: Random) -> Reload:
    return Reload(
        present=tuple(number for number in range(ENGINES) if random.random() < 0.8) or (0,),
        draining=tuple(number for number in range(ENGINES) if random.random() < 0.1),
        in_flight_max=random.choice((None, None, 1, 2)),
        concurrency_limit=random.choice((1000, 1000, 1000, 3)),
        queue_max=random.choice((100, 100, 2, 0)),
        ejection_failures=random.choice((5, 5, 1)),
        policy=random.choice(("slo", "cost", "load")),
        slo_ttft_ms=random.choice((None, None, 1.0, 500.0)),
        concurrent=random.choice((None, None, 1, 3)),
    )
