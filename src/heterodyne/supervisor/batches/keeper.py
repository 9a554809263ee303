"""Sees one batch through, from its input to its files of results. Each step may be cut short anywhere and repeated.

validating -> in_progress -> finalizing -> completed
     |             |              ^------- expired, or cancelled
     +-> failed    +-> cancelling |
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import structs

from heterodyne.batches.batch import PROBLEMS_SHOWN_MAX, Batch, BatchCounts, BatchProblem, BatchStatus
from heterodyne.batches.file_object import file_document
from heterodyne.batches.forecast import BatchForecast
from heterodyne.batches.notice import Notices, WorkNotice
from heterodyne.batches.outputs import Outputs, ResultCounter, write_outputs
from heterodyne.batches.planning import InputUnusable, plan_work
from heterodyne.batches.result_words import CANCELLED, EXPIRED
from heterodyne.batches.work_folder import WorkFolder, WorkPlan
from heterodyne.ports.document_store import DocumentStore
from heterodyne.ports.file_contents import FileContents
from heterodyne.supervisor.batches.kept_batch import LEASE_S, KeptBatch
from heterodyne.telemetry import log

LOOK_S: Final = 1.0
STOP_S: Final = 60.0  # for workers to let go; they look twice a second
ENDED: Final = {"": BatchStatus.COMPLETED, CANCELLED: BatchStatus.CANCELLED, EXPIRED: BatchStatus.EXPIRED}

_log = log.get("batches")


class LeaseLost(Exception):  # another gateway goes on with it
    """It is not ours any more."""


class BatchKeeper:
    """One batch of this gateway."""

    def __init__(
        self,
        kept: KeptBatch,
        folder: WorkFolder,
        notices: Notices,
        documents: DocumentStore,
        contents: FileContents,
        *,
        lines_max: int,
        files_kept_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._kept = kept
        self._folder = folder
        self._notices = notices
        self._documents = documents
        self._contents = contents
        self._lines_max = lines_max
        self._files_kept_s = files_kept_s
        self._clock = clock  # of the wall
        self._leased_at_s = time.monotonic()
        self.is_worked_on = False  # workers are told to ask its lines

    async def run(self) -> None:
        """To its end; raises LeaseLost, and what stores and disks raise, after which it can be run again.

        Until then, and for no longer than the lease, workers go on with it: a line that is cut off would be charged,
        and asked and charged again.
        """
        try:
            async with asyncio.TaskGroup() as group:
                leasing = group.create_task(self._hold_lease())
                await self._see_through()
                leasing.cancel()
        except ExceptionGroup as failed:
            if failed.subgroup(LeaseLost) is None and time.monotonic() - self._leased_at_s <= LEASE_S:
                raise
            self._stop_work()
            raise LeaseLost from failed

    async def _see_through(self) -> None:
        batch = await self._kept.try_read()
        if batch is None or batch.status.is_end:
            await self._leave()
            return
        plan = await self._planned(batch)
        if plan is None:
            return
        because = await self._work_off(plan)
        await self._finalize(because)

    async def _planned(self, batch: Batch) -> WorkPlan | None:
        """None: there is nothing to do, and the batch says so."""
        plan = await asyncio.to_thread(self._folder.try_plan)
        if plan is not None:
            return plan
        try:
            plan, problems = await self._plan(batch)
        except InputUnusable as error:
            await self._fail(error.problem)
            return None
        counts = BatchCounts(total=plan.lines, failed=plan.problems)
        await self._kept.change(lambda one: self._begun(one, counts, problems))
        await asyncio.to_thread(self._folder.write_plan, plan)  # from here on the input is not read again
        return plan

    async def _plan(self, batch: Batch) -> tuple[WorkPlan, list[BatchProblem]]:
        """Raises InputUnusable."""
        source = self._folder.path / "input.jsonl"
        await asyncio.to_thread(self._folder.open)
        try:
            if not await self._contents.fetch(batch.input_file, source):
                gone = f"The input file {batch.input_file!r} is not there."
                raise InputUnusable(BatchProblem(code="input_file_gone", message=gone))
            return await asyncio.to_thread(plan_work, batch, source, self._folder, lines_max=self._lines_max)
        finally:
            source.unlink(missing_ok=True)

    def _begun(self, batch: Batch, counts: BatchCounts, problems: list[BatchProblem]) -> Batch:
        if batch.status is BatchStatus.VALIDATING:
            batch = batch.come_to(BatchStatus.IN_PROGRESS, self._clock())
        return structs.replace(batch, counts=counts, problems=tuple(problems[:PROBLEMS_SHOWN_MAX]))

    async def _work_off(self, plan: WorkPlan) -> str:
        """Until all lines have results, it is cancelled, or its window ends; why lines are left, if any are."""
        counter = ResultCounter(self._folder)
        await asyncio.to_thread(counter.look)
        forecast = BatchForecast(counter.answered + counter.failed, time.monotonic())
        while True:
            batch = await self._kept.change(lambda one: self._counted(one, plan, counter, forecast))
            if batch is None or batch.status is BatchStatus.CANCELLING:
                return CANCELLED
            if not await asyncio.to_thread(self._folder.pieces):
                return ""
            if self._clock() >= batch.expires_at:
                return EXPIRED
            if batch.status is BatchStatus.IN_PROGRESS:
                self.is_worked_on = True
                self._notices.put(_notice(batch, self._folder.path))
            await asyncio.sleep(LOOK_S)
            await asyncio.to_thread(counter.look)
            forecast.note(counter.answered + counter.failed, time.monotonic())

    def _counted(self, batch: Batch, plan: WorkPlan, counter: ResultCounter, forecast: BatchForecast) -> Batch:
        counts = BatchCounts(total=plan.lines, completed=counter.answered, failed=counter.failed)
        left_s = forecast.left_s(plan.lines)
        # By the minute: what is written down changes with the work, and not with every look.
        expected_at = None if left_s is None else round((self._clock() + left_s) / 60) * 60.0
        told = structs.replace(batch, counts=counts, expected_at=expected_at)
        if told.is_late and not batch.is_late:
            late_s = (expected_at or 0.0) - batch.expires_at
            _log.warning("batch_will_be_late", batch=batch.id, project=batch.project, late_s=round(late_s))
        return told

    def _stop_work(self) -> None:
        self._notices.remove(self._kept.id)
        self.is_worked_on = False

    async def _finalize(self, because: str) -> None:
        self._stop_work()
        until_s = time.monotonic() + STOP_S
        while await asyncio.to_thread(self._folder.is_worked_on) and time.monotonic() < until_s:
            await asyncio.sleep(LOOK_S / 4)
        batch = await self._kept.change(self._finalizing)
        if batch is None:  # deleted: nobody can ask for its results
            await self._leave()
            return
        outputs = await asyncio.to_thread(write_outputs, batch, self._folder, because=because)
        await self._store(batch, outputs)
        await self._kept.change(lambda one: self._ended(one, ENDED[because], outputs))
        await self._leave()
        _log.info(
            "batch_ended",
            batch=batch.id,
            project=batch.project,
            status=ENDED[because].value,
            answered=outputs.counts.completed,
            failed=outputs.counts.failed,
            unanswered=outputs.unanswered,
        )

    def _finalizing(self, batch: Batch) -> Batch:
        if batch.status is BatchStatus.IN_PROGRESS:
            return batch.come_to(BatchStatus.FINALIZING, self._clock())
        return batch

    def _ended(self, batch: Batch, status: BatchStatus, outputs: Outputs) -> Batch:
        counted = structs.replace(
            batch,
            counts=outputs.counts,
            unanswered=outputs.unanswered,
            tokens=outputs.tokens,
            has_output=outputs.output is not None,
            has_errors=outputs.errors is not None,
            expected_at=None,
        )
        return counted.come_to(status, self._clock())

    async def _store(self, batch: Batch, outputs: Outputs) -> None:
        """Both files, and that they are there."""
        for path, id, what in (
            (outputs.output, batch.output_file, "output"),
            (outputs.errors, batch.error_file, "error"),
        ):
            if path is None:
                continue
            now, size_bytes = self._clock(), path.stat().st_size
            await self._contents.put(id, path)
            document = file_document(
                batch.project,
                id=id,
                filename=f"{batch.id}_{what}.jsonl",
                purpose="batch_output",
                size_bytes=size_bytes,
                created_at=now,
                expires_at=now + self._files_kept_s,
                is_expiry_told=True,
            )
            await self._documents.add([document])  # where it is there already, this is a repetition

    async def _fail(self, problem: BatchProblem) -> None:
        def failed(batch: Batch) -> Batch:
            return structs.replace(batch, problems=(problem,)).come_to(BatchStatus.FAILED, self._clock())

        batch = await self._kept.change(failed)
        if batch is not None:
            _log.info("batch_failed", batch=batch.id, project=batch.project, reason=problem.message)
        await self._leave()

    async def _leave(self) -> None:
        """Its documents say all there is to say."""
        self._stop_work()
        await self._kept.close()
        await asyncio.to_thread(self._folder.leave)

    async def _hold_lease(self) -> None:
        pause_s = self._leased_at_s + LEASE_S / 3 - time.monotonic()  # may be over, after runs that failed
        while True:
            await asyncio.sleep(pause_s)
            pause_s = LEASE_S / 3
            try:
                is_ours = await self._kept.try_lease()
            except Exception as error:  # the store is away: until the lease is over it is ours
                if time.monotonic() - self._leased_at_s > LEASE_S:
                    raise LeaseLost from error
                continue
            if not is_ours:
                raise LeaseLost
            self._leased_at_s = time.monotonic()


def _notice(batch: Batch, folder: Path) -> WorkNotice:
    return WorkNotice(
        batch=batch.id,
        project=batch.project,
        key=batch.key,
        api=batch.api,
        endpoint=batch.endpoint,
        work_folder=str(folder),
    )
