"""Audit logs to tamper with: made by the real writer, read back as lines."""

import secrets
from pathlib import Path

from heterodyne.audit.key import AuditKey
from heterodyne.audit.log import AuditLog
from heterodyne.audit.segments import segment_path
from heterodyne.audit.settings import AuditSettings
from heterodyne.domain.audit import AuditEntry, RequestEntry

SMALL = AuditSettings(segment_bytes_max=4096, fsync=False)  # some ten entries a segment


def request_entry(number: int) -> RequestEntry:
    """A request like any other."""
    return RequestEntry(
        id=f"request-{number}",
        at=1_700_000_000.0 + number,
        key="k_1",
        project="acme/search",
        organisation="acme",
        operation="chat",
        asked_model="smollm2-135m",
        model="smollm2-135m",
        version="v1",
        pool="chat",
        replica="chat-0",
        status=200,
        prompt_tokens=36,
        completion_tokens=20,
        prompt_hmac="ab" * 32,
        answer_hmac="cd" * 32,
    )


def new_key() -> AuditKey:
    return AuditKey(secrets.token_bytes(32))


def fill(folder: Path, key: AuditKey, count: int, settings: AuditSettings = SMALL, first: int = 1) -> None:
    """Append so many requests, one by one, so that segments end where they would."""
    log = AuditLog(folder, key, settings)
    for number in range(first, first + count):
        log.append([request_entry(number)])
    log.close()


def append(folder: Path, key: AuditKey, *entries: AuditEntry, settings: AuditSettings = SMALL) -> None:
    log = AuditLog(folder, key, settings)
    log.append(entries)
    log.close()


def lines_of(folder: Path, segment: int = 1) -> list[bytes]:
    """With their newlines."""
    return segment_path(folder, segment).read_bytes().splitlines(keepends=True)


def write_lines(folder: Path, lines: list[bytes], segment: int = 1) -> None:
    segment_path(folder, segment).write_bytes(b"".join(lines))
