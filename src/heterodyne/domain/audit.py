"""What the audit log holds: who asked what of which version, what operators changed, and what befell the log itself."""

from typing import Final

from msgspec import Struct

from heterodyne.domain.guard_verdict import GuardVerdict

CUT: Final = "[cut]"  # stands where more was said than is kept


class RequestEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="request"):
    """One request, answered or refused; text only where the project keeps content, and then redacted."""

    id: str
    at: float  # seconds since the epoch, when the head was complete
    key: str = ""  # public id
    project: str = ""
    organisation: str = ""
    operation: str
    asked_model: str  # the name the client used
    model: str = ""  # who answered; empty: nobody did
    version: str = ""
    pool: str = ""
    replica: str = ""
    status: int
    reason: str = ""  # the error code, empty when the answer was complete
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_hmac: str = ""  # of the body as it was received
    answer_hmac: str = ""  # of the body as it was sent
    prompt: str | None = None  # None: not kept
    answer: str | None = None
    guards: tuple[GuardVerdict, ...] = ()  # what policies found
    regions: tuple[str, ...] | None = None  # the only ones that its words may go to; None: any


class ChangeEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="change"):
    """One change by an operator. Secrets belong in none of the fields: a key is named by its public id."""

    at: float
    who: str  # the operator's key id, or the user of the machine
    what: str  # keys.revoke, tenants.limits, fleet.drain
    subject: str = ""  # the thing changed
    before: str | None = None  # as JSON; None: there was nothing
    after: str | None = None  # as JSON; None: nothing is left
    outcome: str = ""  # "asked" before it is tried, an error code where it was refused; empty: done


class StartEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="start"):
    """The first line of a segment."""

    log: str  # which log this is, drawn at random when it was begun
    segment: int
    spools: dict[str, int] = {}  # how far each spool that is still there had been collected, in bytes
    after_break: str = ""  # what was wrong with the log when an operator let it go on


class RecoveredEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="recovered"):
    """Bytes of an unfinished write were cut off after a crash; whoever wrote them had not been told they were kept."""

    file: str
    cut_bytes: int


class GapEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="gap"):
    """Requests that ran and have no entry, because a worker's queue or its disk was full."""

    at: float
    worker: str
    requests: int


AuditEntry = RequestEntry | ChangeEntry | StartEntry | RecoveredEntry | GapEntry


class Content(Struct, frozen=True, kw_only=True, gc=False):
    """What was said in one request; it is hashed or redacted off the request's path."""

    prompt: bytes
    answer: tuple[bytes, ...] | list[bytes] = ()  # as sent, in as many pieces as it was sent in
    answer_bytes: int = 0  # of all pieces
    is_chunked: bool = False  # each piece is whole chunks, framing included
    is_kept: bool = False  # the project keeps content

    def __repr__(self) -> str:
        return f"Content({len(self.prompt)} bytes asked, {self.answer_bytes} answered)"


class Anchor(Struct, frozen=True, kw_only=True):
    """One entry's hash, to be kept where whoever can write to the log cannot write."""

    log: str
    seq: int
    hash: str
    at: float
    mac: str = ""  # over the other fields, with the audit key
