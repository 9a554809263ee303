"""Whatever opens, delivers, ends, dies, is recovered and collected, in any order: the books balance to the token."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from heterodyne.books.collector import Collector
from heterodyne.books.encoding import OpeningForm
from heterodyne.books.flight_slots import FlightSlot, FlightSlots
from heterodyne.books.recover import recover_all
from heterodyne.books.spool import UsageSpool
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.usage import FlightTerms, RequestQuery, UsageEnding, UsageGroup, UsageOpening, UsageQuery
from tests.support.examples import examples
from tests.support.flight_slots import open_slot, place_slot
from tests.support.inline_books import InlineBooks

SLOTS = 6
DAY_S = 86400.0
MOODS = st.lists(st.sampled_from(["before", "after", ""]), max_size=3)


class BooksMachine(RuleBasedStateMachine):
    """One worker after another, and a collector that may forget what it did."""

    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self.scratch.name)
        self.store = InlineBooks()
        self.collector = Collector(self.folder, self.store)
        self.delivered: dict[str, int] = {}
        self.lives = 0
        self.live()

    def live(self) -> None:
        self.lives += 1
        life = f"{self.lives:04d}"
        self.slots = FlightSlots(self.folder / f"w.{life}.slots", SLOTS)
        self.spool = UsageSpool(self.folder, "w", life, self.slots, segment_bytes_max=300)
        self.flights: list[tuple[UsageOpening, FlightSlot]] = []

    @rule(day=st.integers(0, 3), model=st.sampled_from(["a", "b", "long" * 200]), by_form=st.booleans())
    def open(self, day: int, model: str, by_form: bool) -> None:
        opening = UsageOpening(
            id=f"req_{len(self.delivered):04d}",
            at=day * DAY_S,
            organisation="o",
            project="o/p",
            key="k",
            tier="gold",
            urgency="batch",
            operation="chat",
            model=model,
        )
        if self.slots.taken == SLOTS:
            return
        terms = FlightTerms(prompt_tokens=3)
        if by_form:
            slot = self.slots.open_encoded(OpeningForm(opening).fill(opening.id, opening.at), terms)
        else:
            slot = open_slot(self.slots, opening, terms)
        self.flights.append((opening, slot))
        self.delivered[opening.id] = 0

    @precondition(lambda self: self.flights)
    @rule(which=st.integers(0, SLOTS), tokens=st.integers(1, 9), moves=st.booleans())
    def deliver(self, which: int, tokens: int, moves: bool) -> None:
        opening, slot = self.flights[which % len(self.flights)]
        self.delivered[opening.id] += tokens
        if moves:
            place_slot(slot, opening)
        slot.delivered = self.delivered[opening.id]

    @precondition(lambda self: self.flights)
    @rule(which=st.integers(0, SLOTS))
    def finish(self, which: int) -> None:
        opening, slot = self.flights.pop(which % len(self.flights))
        self.spool.finish(slot, UsageEnding(status=200, completion_tokens=self.delivered[opening.id], replica_s=0.1))

    @rule()
    def flush(self) -> None:
        self.spool.flush()

    @rule()
    def end_in_order(self) -> None:
        while self.flights:
            self.finish(0)
        self.spool.close()
        self.live()

    @rule(writes=st.booleans(), frees=st.booleans(), torn_bytes=st.integers(0, 12))
    def die(self, writes: bool, frees: bool, torn_bytes: int) -> None:
        """Anywhere between the end of a request and the moment its slot is free, also in the middle of a write."""
        left = bytes(self.slots.map)
        if writes:
            self.spool.flush()
        if frees:
            left = bytes(self.slots.map)
        path = self.slots.path
        self.slots.close()
        path.write_bytes(left)
        for segment in self.folder.glob(f"w.{self.lives:04d}.*.open"):
            with segment.open("ab") as file:
                file.write(bytes([200] * torn_bytes)[:7])
        self.live()

    @rule()
    def recover(self) -> None:
        recover_all(self.folder)

    @rule(moods=MOODS, forgets=st.booleans())
    def collect(self, moods: list[str], forgets: bool) -> None:
        self.store.moods = moods
        if forgets:
            self.collector = Collector(self.folder, self.store)
        try:
            self.loop.run_until_complete(self.collector.collect())
        except StoreUnavailable:
            assert moods is self.store.moods
        self.store.moods = []

    def teardown(self) -> None:
        self.die(writes=False, frees=True, torn_bytes=0)
        self.spool.close()
        self.collect([], forgets=True)
        try:
            self.loop.run_until_complete(self.check())
        finally:
            self.store.close()
            self.scratch.cleanup()
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()

    async def check(self) -> None:
        assert list(self.folder.iterdir()) == []
        page = await self.store.requests(RequestQuery(limit=5000))
        assert {record.id: record.completion_tokens for record in page.records} == self.delivered
        by_day = await self.store.usage(UsageQuery(by=(UsageGroup.DAY, UsageGroup.MODEL)))
        assert sum(row.completion_tokens for row in by_day) == sum(self.delivered.values())
        assert sum(row.requests for row in by_day) == len(self.delivered)
        for row in by_day:
            same = [
                record
                for record in page.records
                if row.group == {"day": f"1970-01-0{int(record.at / DAY_S) + 1}", "model": record.model}
            ]
            assert row.completion_tokens == sum(record.completion_tokens for record in same)
            assert row.prompt_tokens == sum(record.prompt_tokens for record in same)
            assert row.replica_us == sum(round(record.replica_s * 1e6) for record in same)
        await self.store.forget(2 * DAY_S, 5000)
        assert await self.store.usage(UsageQuery(by=(UsageGroup.DAY, UsageGroup.MODEL))) == by_day


BooksMachine.TestCase.settings = settings(
    max_examples=examples(40), stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
test_the_books_balance_in_any_order = BooksMachine.TestCase
