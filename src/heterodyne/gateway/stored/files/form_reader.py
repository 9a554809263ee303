"""Bytes of a `multipart/form-data` body become fields and the pieces of a file, as they come."""

import logging
from typing import Final, Protocol

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from heterodyne.domain.errors import InvalidField

HEADERS_BYTES_MAX: Final = 8192  # of one part
VALUE_BYTES_MAX: Final = 1024  # of a field that is no file
BOUNDARIES_MAX: Final = 16  # in one piece; each costs the parser as much as a kilobyte

# What it warns of is in the error that it raises, and of strangers' bodies there may be many.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)


class FormParts(Protocol):
    """Takes what a form has; each call may raise HeterodyneError."""

    def on_field(self, name: str, value: str) -> None: ...
    def on_file(self, name: str, filename: str) -> None: ...
    def on_piece(self, piece: bytes) -> None: ...


class FormReader:
    """One per upload. Fields are held and short; of a file only the piece at hand is in memory."""

    def __init__(self, boundary: bytes, parts: FormParts) -> None:
        self._parts = parts
        self._delimiter = b"--" + boundary
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._on_part_begin,
                "on_header_field": self._on_header_field,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers_finished,
                "on_part_data": self._on_part_data,
                "on_part_end": self._on_part_end,
                "on_end": self._on_end,
            },
        )
        self._headers_bytes = 0
        self._header, self._header_value = b"", b""
        self._disposition = b""
        self._name = ""
        self._value: bytearray | None = None  # None: the part is a file
        self.is_whole = False  # its end has come

    def feed(self, piece: bytes) -> None:
        """The next of the body; raises what its parts raise, and InvalidField where it is no form."""
        if piece.count(self._delimiter) > BOUNDARIES_MAX:
            raise InvalidField("The boundary of the form is in what it parts; choose another.")
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise InvalidField(f"The body is not the form that its content-type declares: {error}.") from None

    # Called by the parser, inside feed.

    def _on_part_begin(self) -> None:
        self._headers_bytes = 0
        self._header, self._header_value, self._disposition = b"", b"", b""

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._count_header(end - start)
        self._header += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._count_header(end - start)
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._header_value
        self._header, self._header_value = b"", b""

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._name = options.get(b"name", b"").decode(errors="replace")
        filename = options.get(b"filename")
        self._value = bytearray() if filename is None else None
        if filename is not None:
            self._parts.on_file(self._name, filename.decode(errors="replace"))

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        value = self._value
        if value is None:
            self._parts.on_piece(data[start:end])
        elif len(value) + end - start > VALUE_BYTES_MAX:
            name = self._name[:100]
            raise InvalidField(
                f"{name}: longer than {VALUE_BYTES_MAX} bytes; a file is sent with its name.", param=name
            )
        else:
            value += data[start:end]

    def _on_part_end(self) -> None:
        if self._value is not None:
            self._parts.on_field(self._name, self._value.decode(errors="replace"))

    def _on_end(self) -> None:
        self.is_whole = True

    def _count_header(self, size: int) -> None:
        self._headers_bytes += size
        if self._headers_bytes > HEADERS_BYTES_MAX:
            raise InvalidField(f"The headers of a part are longer than {HEADERS_BYTES_MAX} bytes.")
