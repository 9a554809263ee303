"""One line of the log: `{"seq":7,"at":…,"entry":{…},"previous":"…","hash":"…"}`, its hash over the bytes before it."""

import msgspec
from msgspec import Raw, Struct

from heterodyne.audit.key import AuditKey
from heterodyne.domain.audit import AuditEntry, StartEntry

FIRST_PREVIOUS = "0" * 64  # what the first entry of a log says of the one before it
LINE_BYTES_MAX = 8 * 1024 * 1024  # nothing longer is ever written

_HASH_OPENS = b',"hash":"'
_HASH_CLOSES = b'"}\n'
_START = b'{"type":"start",'
_TAIL_BYTES = len(_HASH_OPENS) + 64 + len(_HASH_CLOSES)


class AuditLine(Struct, frozen=True, kw_only=True, gc=False):
    """One line that was read; its entry is not decoded until it is wanted."""

    seq: int
    at: float  # seconds since the epoch, when it was added to the log
    entry: Raw
    spool: str = ""  # name@end of the spool record it came from
    previous: str
    hash: str

    def decoded(self) -> AuditEntry:
        """The entry; raises `msgspec.MsgspecError` for a kind that a newer version wrote."""
        return _entries.decode(self.entry)

    def try_start(self) -> StartEntry | None:
        """The entry where it is the first of a segment; the others are not looked into."""
        if memoryview(self.entry)[: len(_START)] != _START:
            return None
        start = self.decoded()
        assert isinstance(start, StartEntry), "as its tag says"
        return start


class _Body(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    seq: int
    at: float
    entry: AuditEntry
    spool: str = ""
    previous: str


_lines = msgspec.json.Decoder(AuditLine)
_entries: msgspec.json.Decoder[AuditEntry] = msgspec.json.Decoder(AuditEntry)
_encoder = msgspec.json.Encoder()


def write_line(
    key: AuditKey, *, seq: int, at: float, entry: AuditEntry, previous: str, spool: str = ""
) -> tuple[bytes, str]:
    """The line with its newline, and its hash."""
    body = _encoder.encode(_Body(seq=seq, at=at, entry=entry, spool=spool, previous=previous))[:-1]
    digest = key.line_hash(body)
    return b"".join((body, _HASH_OPENS, digest.encode(), _HASH_CLOSES)), digest


def try_read_line(key: AuditKey, line: bytes) -> AuditLine | None:
    """What a line says, or None where it was not written with the key.

    The hash is compared over the bytes as they stand, so there is no second spelling of the same line.
    """
    body = line[:-_TAIL_BYTES]
    if line[-_TAIL_BYTES:] != b"".join((_HASH_OPENS, key.line_hash(body).encode(), _HASH_CLOSES)):
        return None
    return _lines.decode(line)
