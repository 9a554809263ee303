"""Takes records into the books, each once: they become a block, and are added to their days and minutes.

How far a segment was read is stored with what was read of it. So what is read again, after a crash or an answer that
was lost, is known by its place alone; records are only compared by their ids where their place does not say.
"""

from collections.abc import Sequence

from heterodyne.domain.record_block import RecordBlock
from heterodyne.domain.spool_place import SpoolPlace
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_tally import UsageTally
from heterodyne.stores.sql.books import blocks
from heterodyne.stores.sql.books.days import add_days
from heterodyne.stores.sql.books.minutes import add_minutes
from heterodyne.stores.sql.books.old_rows import known_rows
from heterodyne.stores.sql.script import Script, Statement

NO_SEGMENT = ""  # the name under which records without a place wait for each other


def add_records(records: Sequence[UsageRecord], place: SpoolPlace | None, source: str) -> Script[UsageTally]:
    """Those that are new, and what they add up to."""
    if not records:
        return UsageTally(())
    tally = UsageTally((yield from _new(RecordBlock.of(records), place)))
    if tally.records:
        yield from blocks.add_block(tally)
        yield from add_days(tally)
        yield from add_minutes(source, tally)
    return tally


def forget_segments(before_at: float) -> Script[None]:
    """Those whose files are long gone."""
    yield Statement("DELETE FROM usage_segment WHERE at < $1", (before_at,))


def _new(records: RecordBlock, place: SpoolPlace | None) -> Script[Sequence[UsageRecord]]:
    """Others who read the same segment wait here until this transaction has ended."""
    name = NO_SEGMENT if place is None else place.segment
    ((until,),) = yield Statement(
        "INSERT INTO usage_segment (name, until, at) VALUES ($1, 0, $2) "
        "ON CONFLICT (name) DO UPDATE SET at = excluded.at RETURNING until",
        (name, records.columns.values("at")[-1]),
    )
    if place is None or place.may_repeat:
        return (yield from _unknown(records))
    if until >= place.end:
        return ()
    yield Statement("UPDATE usage_segment SET until = $1 WHERE name = $2", (place.end, name))
    if until <= place.start and (until or not (yield from known_rows([records.columns.values("id")[0]]))):
        return records
    return (yield from _unknown(records))  # read in other pieces, or begun by a version that noted no place


def _unknown(records: Sequence[UsageRecord]) -> Script[list[UsageRecord]]:
    """Each once, in the order of ids."""
    by_id: dict[str, UsageRecord] = {}
    for record in sorted(records, key=lambda record: record.id):
        by_id.setdefault(record.id, record)
    known = yield from known_rows(list(by_id))
    for number in (yield from blocks.blocks_of(by_id)):
        known.update(record.id for record in (yield from blocks.read([number])))
    return [record for request_id, record in by_id.items() if request_id not in known]
