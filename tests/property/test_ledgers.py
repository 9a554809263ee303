"""Whatever clients, engines and operators do: afterwards nothing is held for anybody, and the books are what was sent.

`HETERODYNE_LEDGER_EXAMPLES=500` plays so many lives instead of a few; a failing one is printed as its steps.
"""

import asyncio
import os
import tempfile
from collections import Counter
from pathlib import Path

import uvloop
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

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

EXAMPLES = int(os.environ.get("HETERODYNE_LEDGER_EXAMPLES", "20"))
STEPS_MIN, STEPS_MAX = 30, 120

engines = st.integers(0, ENGINES - 1)
short_s = st.sampled_from((0.0, 0.0, 0.01, 0.05, 0.2))
fates = st.builds(
    Fate,
    status=st.sampled_from((200,) * 8 + (400, 404, 422, 429, 500, 503)),
    tokens=st.integers(0, 40),
    each=st.sampled_from((1, 1, 1, 3)),
    delay_s=short_s,
    pace_s=st.sampled_from((0.0, 0.002, 0.02)),
    ending=st.sampled_from(("whole",) * 6 + ("close", "reset", "garbage", "hang", "error")),
    counts=st.booleans(),
)
asks = st.builds(
    Asked,
    route=st.sampled_from(("chat", "chat", "chat", *PATHS)),
    model=st.sampled_from((MODEL, MODEL, MODEL, "alias", OTHER, "nobody")),
    key=st.sampled_from((*KEYS, *KEYS, "stranger")),
    stream=st.booleans(),
    prompt_chars=st.sampled_from((1, 10, 4000, 6 * CONTEXT_TOKENS, 33 * CONTEXT_TOKENS)),
    max_tokens=st.sampled_from((None, None, 1, 50, CONTEXT_TOKENS, 10 * CONTEXT_TOKENS)),
    choices=st.sampled_from((1, 1, 1, 2)),
    urgency=st.sampled_from(("", "", "", "batch", "background")),
    deadline_ms=st.sampled_from((None, None, None, 20, 200)),
    broken=st.sampled_from(("",) * 8 + ("json", "field", "half")),
    leaves_after_s=st.sampled_from((None, None, None, 0.0, 0.005, 0.02, 0.1, 0.3)),
    leaves_after_events=st.sampled_from((None, None, None, 1, 5)),
)
reloads = st.builds(
    Reload,
    present=st.sets(engines, min_size=1).map(lambda some: tuple(sorted(some))),
    draining=st.sets(engines, max_size=2).map(tuple),
    in_flight_max=st.sampled_from((None, None, 1, 2)),
    house=st.sampled_from((1000, 1000, 3)),
    queue_max=st.sampled_from((100, 100, 2, 0)),
    ejection_failures=st.sampled_from((5, 1)),
    policy=st.sampled_from(("slo", "cost", "load")),
    slo_ttft_ms=st.sampled_from((None, None, 1.0, 500.0)),
    concurrent=st.sampled_from((None, None, 1, 3)),
)
steps = st.one_of(
    asks,
    asks,
    asks,
    asks,
    asks,
    st.builds(Behave, engine=engines, fate=fates),
    st.builds(Behave, engine=engines, fate=fates),
    reloads,
    st.builds(Outage, engine=engines, lasts_s=st.sampled_from((0.02, 0.3))),
    st.builds(Pause, s=st.sampled_from((0.001, 0.01, 0.05, 0.2))),
)


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],  # a life takes seconds: it is told whole and not shrunk
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    plan=st.lists(steps, min_size=STEPS_MIN, max_size=STEPS_MAX),
    end=st.sampled_from(("quiet", "quiet", "drain", "cut")),
)
def test_after_anything_every_ledger_is_at_zero_and_the_books_equal_what_was_streamed(
    plan: list[Step], end: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(world.play(plan, end))
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
        most = max(1, 4) * world.sent[seen.id]  # an event holds three tokens at most
        assert seen.events - 3 <= record.completion_tokens <= most, told
    elif seen.asked.route in ("chat", "completion") and seen.is_done:
        assert record.completion_tokens == seen.words, told


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
