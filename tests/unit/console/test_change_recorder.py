"""A change that cannot be written down is not made; one that was made has an entry, whatever happens after."""

import threading

import pytest

from heterodyne.console.change_recorder import ASKED, ChangeRecorder, Effect, Intent
from heterodyne.domain.audit import ChangeEntry
from heterodyne.domain.errors import InvalidField, StoreUnavailable
from tests.support.change_logs import ListedChanges

INTENT = Intent(who="key 01234567", what="keys.revoke", subject="key_1", wanted={"id": "key_1"})


class Change:
    """Counts how often it was made."""

    def __init__(self, error: Exception | None = None) -> None:
        self.made = 0
        self._error = error

    async def __call__(self) -> str:
        if self._error is not None:
            raise self._error
        self.made += 1
        return "done"


def effect(done: str) -> Effect:
    return Effect(subject="key_2", before={"is": 1}, after={"is": done})


async def test_a_change_is_asked_for_and_then_done() -> None:
    log = ListedChanges()
    assert await ChangeRecorder(log, clock=lambda: 7.0).carry_out(INTENT, Change(), effect) == "done"
    assert log.entries == [
        ChangeEntry(
            at=7.0, who="key 01234567", what="keys.revoke", subject="key_1", after='{"id":"key_1"}', outcome=ASKED
        ),
        ChangeEntry(
            at=7.0, who="key 01234567", what="keys.revoke", subject="key_2", before='{"is":1}', after='{"is":"done"}'
        ),
    ]


async def test_a_change_that_cannot_be_written_down_is_not_made() -> None:
    change = Change()
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        await ChangeRecorder(ListedChanges(room=0)).carry_out(INTENT, change, effect)
    assert change.made == 0


async def test_a_change_whose_outcome_cannot_be_written_down_is_answered_with_an_error_that_says_it_was_made() -> None:
    log, change = ListedChanges(room=1), Change()
    with pytest.raises(StoreUnavailable, match="The change was made"):
        await ChangeRecorder(log).carry_out(INTENT, change, effect)
    assert (change.made, [entry.outcome for entry in log.entries]) == (1, [ASKED])


@pytest.mark.parametrize(
    ("error", "code"), [(InvalidField("no"), "invalid_value"), (RuntimeError("ours"), "internal_error")]
)
async def test_a_change_that_failed_is_in_the_log_with_the_code_of_its_failure(error: Exception, code: str) -> None:
    log = ListedChanges()
    with pytest.raises(type(error)):
        await ChangeRecorder(log).carry_out(INTENT, Change(error), effect)
    assert [(entry.outcome, entry.after) for entry in log.entries] == [(ASKED, '{"id":"key_1"}'), (code, None)]


async def test_a_disk_that_hangs_refuses_changes_and_takes_one_thread_only() -> None:
    hangs = threading.Event()
    change = Change()
    begun: list[ChangeEntry] = []

    class Stuck:
        def record(self, change: ChangeEntry) -> None:
            begun.append(change)
            hangs.wait(10)

    recorder = ChangeRecorder(Stuck(), timeout_s=0.05)
    try:
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="took no entry"):
                await recorder.carry_out(INTENT, change, effect)
        assert (change.made, len(begun)) == (0, 1)
    finally:
        hangs.set()
