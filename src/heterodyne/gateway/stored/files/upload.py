"""One upload: a form that comes piece by piece, whose file is on the disk when it is whole."""

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final, NamedTuple

from heterodyne.batches.file_object import BATCH, PURPOSES
from heterodyne.domain.errors import BodyTooLarge, HeterodyneError, InvalidField
from heterodyne.gateway.stored.files.batch_lines import BatchLines
from heterodyne.gateway.stored.files.form_reader import FormReader
from heterodyne.gateway.stored.files.staging import StagedFile, Staging

FORM_BYTES_MAX: Final = 65536  # around the file
FILENAME_CHARS_MAX: Final = 255
EXPIRES_MIN_S: Final = 3600
EXPIRES_MAX_S: Final = 2_592_000
ANCHOR: Final = "expires_after[anchor]"
SECONDS: Final = "expires_after[seconds]"
CREATED_AT: Final = "created_at"
FIELDS: Final = ("purpose", ANCHOR, SECONDS)
# After a mistake so much is read past before the connection is cut: clients look for an answer when all is sent.
READ_PAST_BYTES: Final = 16 << 20


class UploadedFile(NamedTuple):
    """What was sent, whole and on the disk."""

    path: Path
    filename: str
    purpose: str
    size_bytes: int
    expires_after_s: int | None  # None: when all files do


class Upload:
    """The sink of one body. The first mistake is kept until the request is answered."""

    def __init__(self, boundary: bytes, staging: Staging, *, file_bytes_max: int, line_bytes_max: int) -> None:
        self.bytes_max = file_bytes_max + FORM_BYTES_MAX
        self._file_bytes_max = file_bytes_max
        self._form = FormReader(boundary, self)
        self._staged = StagedFile(staging)
        self._lines = BatchLines(line_bytes_max)
        self._fields: dict[str, str] = {}
        self._filename: str | None = None
        self._problem: HeterodyneError | None = None
        self._past_bytes = 0  # read past, after a problem

    # Called by the wire.

    def write(self, piece: bytes | memoryview) -> None:
        if self._problem is None:
            try:
                self._form.feed(bytes(piece))
            except HeterodyneError as error:
                error.__traceback__ = error.__cause__ = error.__context__ = None  # it is kept, and they would be, too
                self._problem = error
                self._staged.discard()
        else:
            self._past_bytes += len(piece)
            if self._past_bytes > READ_PAST_BYTES:
                raise self._problem

    def discard(self) -> None:
        self._staged.discard()

    # Called by the page.

    def finish(self) -> UploadedFile:
        """Its request is complete; raises whatever is wrong with it."""
        if self._problem is not None:
            raise self._problem
        if not self._form.is_whole:
            raise InvalidField("The body ends before its form does: the last boundary is missing.")
        if self._filename is None:
            raise InvalidField("file: the form has no part of this name.", param="file")
        purpose = self._fields.get("purpose")
        if purpose is None:
            raise InvalidField(f"purpose: the form has none; it is one of {', '.join(PURPOSES)}.", param="purpose")
        self._lines.end()
        self._check_lines()
        expires_after_s = self._expires_after_s()
        path = self._staged.close()
        return UploadedFile(path, self._filename, purpose, self._staged.size_bytes, expires_after_s)

    # Called by the form.

    def on_field(self, name: str, value: str) -> None:
        if name not in FIELDS:
            expected = "file, purpose, expires_after[anchor] and expires_after[seconds]"
            raise InvalidField(f"{name[:100]!r} is not a part of this form; {expected} are.", param=name[:100])
        if name in self._fields:
            raise InvalidField(f"{name}: it comes twice.", param=name)
        if name == "purpose" and value not in PURPOSES:
            raise InvalidField(f"purpose: {value[:100]!r} is none of {', '.join(PURPOSES)}.", param="purpose")
        self._fields[name] = value
        self._check_lines()

    def on_file(self, name: str, filename: str) -> None:
        if name != "file":
            raise InvalidField(f"{name[:100]!r} is not a file of this form; `file` is.", param=name[:100])
        if self._filename is not None:
            raise InvalidField("file: there are two; send each in a request of its own.", param="file")
        # Some clients send the path that the file has with them.
        base = PureWindowsPath(PurePosixPath(filename).name).name.replace("\x00", "")
        if not base or len(base) > FILENAME_CHARS_MAX:
            raise InvalidField(f"file: a name of 1 to {FILENAME_CHARS_MAX} characters is expected.", param="file")
        self._filename = base

    def on_piece(self, piece: bytes) -> None:
        size_bytes = self._staged.size_bytes + len(piece)
        if size_bytes > self._file_bytes_max:
            raise BodyTooLarge(f"The file has at least {size_bytes} bytes; the limit is {self._file_bytes_max} bytes.")
        self._staged.write(piece)
        if self._fields.get("purpose", BATCH) == BATCH:  # it may come behind the file
            self._lines.feed(piece)
            self._check_lines()

    def _check_lines(self) -> None:
        if self._lines.problem and self._fields.get("purpose") == BATCH:
            raise InvalidField(f"file: {self._lines.problem}; a batch has one JSON object a line.", param="file")

    def _expires_after_s(self) -> int | None:
        anchor, seconds = self._fields.get(ANCHOR), self._fields.get(SECONDS)
        if anchor is None and seconds is None:
            return None
        if anchor != CREATED_AT:
            raise InvalidField(f"{ANCHOR}: {CREATED_AT} is expected.", param="expires_after.anchor")
        is_number = seconds is not None and seconds.isascii() and seconds.isdigit() and len(seconds) <= 9
        if seconds is None or not is_number or not EXPIRES_MIN_S <= int(seconds) <= EXPIRES_MAX_S:
            raise InvalidField(
                f"{SECONDS}: a whole number from {EXPIRES_MIN_S} to {EXPIRES_MAX_S} is expected.",
                param="expires_after.seconds",
            )
        return int(seconds)
