"""Tells the audit log of every request: who asked what of which version, and what was answered, as hashes or text."""

from heterodyne.admission.scopes import allowed_regions
from heterodyne.domain.audit import Content, RequestEntry
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.residency import may_rest
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.finished import Finished
from heterodyne.ports.audit import AuditSink

RETRY_AFTER_S = 5


class AuditRecorder:
    """One per worker."""

    def __init__(self, sink: AuditSink, regions: tuple[str, ...] = ()) -> None:
        """The log rests in these regions; none: where the gateway is."""
        self._sink = sink
        self._regions = regions

    def check(self) -> None:
        """Raise where a request could not be audited, and the settings say that none passes without."""
        if self._sink.is_blocked:
            raise StoreUnavailable(
                "Requests cannot be audited now, and the settings say that none passes without.",
                retry_after_s=RETRY_AFTER_S,
            )

    def finished(self, finished: Finished, record: RequestRecord) -> None:
        """One that a replica was asked for."""
        caller, wire = finished.hold.caller, finished.wire
        answer, request = finished.answer if finished.sent is None else finished.sent, finished.request
        content = Content(
            prompt=request.received_body,
            answer=answer,
            answer_bytes=sum(map(len, answer)),
            is_chunked=finished.is_answer_chunked,
            is_kept=self._keeps(caller),
        )
        version = "" if wire is None else wire.replica.version or ""
        self._sink.write(_entry(record, caller, finished.request.model, version), content)

    def refused(self, record: RequestRecord, caller: Caller, body: bytes) -> None:
        """One that none was asked for."""
        content = Content(prompt=body, is_kept=self._keeps(caller))
        self._sink.write(_entry(record, caller, record.asked_model or record.model, ""), content)

    def _keeps(self, caller: Caller) -> bool:
        """Whether the words themselves are written down: what may not rest where the log is has its hash there."""
        return caller.keeps_content and may_rest(allowed_regions(caller) if self._regions else None, self._regions)


def _entry(record: RequestRecord, caller: Caller, asked_model: str, version: str) -> RequestEntry:
    regions = allowed_regions(caller)
    return RequestEntry(
        id=record.id,
        at=record.at,
        key=caller.key,
        project=caller.project,
        organisation=caller.organisation,
        operation=record.operation,
        asked_model=asked_model,
        model=record.model if record.pool else "",
        version=version,
        pool=record.pool,
        replica=record.replica,
        status=record.status,
        reason=record.reason,
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        guards=record.guards,
        regions=None if regions is None else tuple(sorted(regions)),
    )
