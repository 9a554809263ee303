"""The head: a small file that says how far the log is known to go, so that a shorter log is noticed."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.audit.key import AuditKey
from heterodyne.audit.segments import sync_folder

HEAD_NAME = "head"


class Head(Struct, frozen=True, kw_only=True):
    """The last entry whose writer was answered that it is kept. The log may go on after it, never end before it."""

    log: str
    seq: int
    hash: str
    segment: int
    at: float
    mac: str = ""


class HeadInvalid(Exception):
    """A head that was not written with the key."""


def write_head(folder: Path, key: AuditKey, head: Head, *, is_synced: bool) -> None:
    """In one step: a reader, or a crash, sees the old one or the new one."""
    signed = msgspec.structs.replace(head, mac=_mac(key, head))
    draft = folder / f".{HEAD_NAME}.draft"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(signed) + b"\n")
        file.flush()
        if is_synced:
            os.fsync(file.fileno())
    draft.replace(folder / HEAD_NAME)
    if is_synced:
        sync_folder(folder)


def try_read_head(folder: Path, key: AuditKey) -> Head | None:
    """The head, None where there is none; raises `HeadInvalid`."""
    try:
        content = (folder / HEAD_NAME).read_bytes()
        head = msgspec.json.decode(content, type=Head)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HeadInvalid("it is not a head") from error
    # Two spellings of a number can be the same number: the one that was written is the one that counts.
    if head.mac != _mac(key, head) or content.rstrip(b"\n") != msgspec.json.encode(head):
        raise HeadInvalid("it was not written with the audit key")
    return head


def _mac(key: AuditKey, head: Head) -> str:
    return key.mac("head", head.log, head.seq, head.hash, head.segment, head.at)
