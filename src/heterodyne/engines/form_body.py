"""Bodies of `multipart/form-data` that are held whole: what is in them, and another value in the place of a field's.

A form says its boundary itself, in its first line. Engines are told that one, so that they part it where it was parted
here, whatever the head said.
"""

import re
from typing import Final, final

from python_multipart.multipart import parse_options_header

from heterodyne.domain.errors import InvalidField

FORM: Final = "multipart/form-data"
BOUNDARY_CHARS_MAX: Final = 70
PARTS_MAX: Final = 128
HEADERS_BYTES_MAX: Final = 8192  # of one part
VALUE_BYTES_MAX: Final = 256 * 1024  # of a field that is no file
_BOUNDARY: Final = re.compile(rb"--([0-9A-Za-z'()+_,./:=?-]{1,%d})\r\n" % BOUNDARY_CHARS_MAX)
_NAME: Final = re.compile(r"[A-Za-z0-9_.\-]{1,64}(?:\[[A-Za-z0-9_]*\]){0,4}")
_NAMED: Final = re.compile(rb"(?:^|[;\s])name\*?\d*\*?=", re.IGNORECASE)
_HEADER_NAMES: Final = (b"content-disposition", b"content-type", b"content-length", b"content-transfer-encoding")


@final
class FormPart:
    """One of a form: a field, or a file where it has a file's name."""

    __slots__ = ("end", "filename", "name", "start")

    def __init__(self, name: str, filename: str | None, start: int, end: int) -> None:
        self.name = name
        self.filename = filename  # None: it is a field
        self.start, self.end = start, end  # of its value, in the body


@final
class Form:
    """What is where in a body."""

    __slots__ = ("_body", "boundary", "parts")

    def __init__(self, body: bytes) -> None:
        """Raises InvalidField where it is no form, or could be read as another one."""
        self._body = body
        match = _BOUNDARY.match(body)
        if match is None:
            raise InvalidField("The body is not the form that its content-type declares: it has no boundary.")
        self.boundary = match[1].decode()
        self.parts = _read_parts(body, b"\r\n--" + match[1], match.end())

    @property
    def media_type(self) -> str:
        """What an engine is told that the body is."""
        return f'{FORM}; boundary="{self.boundary}"'

    def value(self, name: str) -> str | None:
        """What a field says; None: there is none of this name."""
        found = next((part for part in self.parts if part.name == name and part.filename is None), None)
        return None if found is None else self._decoded(found)

    def fields(self) -> list[dict[str, str]]:
        """What every field says, by its name; a file has nothing."""
        return [{} if part.filename is not None else {part.name: self._decoded(part)} for part in self.parts]

    def with_fields(self, fields: list[dict[str, str]]) -> bytes:
        """The body with these values in its fields, which may not hold the boundary."""
        view, at = memoryview(self._body), 0
        pieces: list[bytes | memoryview] = []
        for part, field in zip(self.parts, fields, strict=True):
            for value in field.values():
                pieces += [view[at : part.start], value.encode()]
                at = part.end
        return b"".join((*pieces, view[at:]))

    def has_file(self, *names: str) -> bool:
        """Whether a file is sent under one of these names."""
        return any(part.filename is not None and part.name in names for part in self.parts)

    def _decoded(self, part: FormPart) -> str:
        try:
            return self._body[part.start : part.end].decode()
        except UnicodeDecodeError:
            raise InvalidField(f"{part.name}: not UTF-8.", param=part.name) from None


def with_field(body: bytes, name: str, value: str) -> bytes:
    """The same form with another value in a field that it has."""
    part = next(one for one in Form(body).parts if one.name == name and one.filename is None)
    view = memoryview(body)
    return b"".join((view[: part.start], value.encode(), view[part.end :]))


def _read_parts(body: bytes, delimiter: bytes, at: int) -> list[FormPart]:
    """All of them; `at` is behind the first boundary's line."""
    parts: list[FormPart] = []
    while True:
        head_end = body.find(b"\r\n\r\n", at, at + HEADERS_BYTES_MAX)
        if head_end < 0:
            raise InvalidField("The form has a part without a head, or with one that is too long.")
        name, filename = _named(body[at:head_end])
        start = head_end + 4
        end = body.find(delimiter, start)
        if end < 0:
            raise InvalidField("The form has no end; its last boundary is missing.")
        part = FormPart(name, filename, start, end)
        _check(part, parts)
        parts.append(part)
        if len(parts) > PARTS_MAX:
            raise InvalidField(f"The form has more than {PARTS_MAX} parts.")
        at = end + len(delimiter)
        if body.startswith(b"--", at):
            return parts
        if not body.startswith(b"\r\n", at):
            raise InvalidField("The boundary of the form is in what it parts; choose another.")
        at += 2


def _named(head: bytes) -> tuple[str, str | None]:
    """The name of a part, and that of its file; nobody else may read another name in it."""
    disposition = b""
    for line in head.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        name = name.lower()
        if not colon or name not in _HEADER_NAMES or (name == _HEADER_NAMES[0] and disposition):
            raise InvalidField("The form has a part whose head is not understood.")
        if name == _HEADER_NAMES[0]:
            disposition = value.strip()
    kind, options = parse_options_header(disposition)
    field = options.get(b"name", b"").decode(errors="replace")
    if kind != b"form-data" or _NAME.fullmatch(field) is None or len(_NAMED.findall(disposition)) != 1:
        raise InvalidField("The form has a part without a plain name.")
    filename = options.get(b"filename")
    return field, None if filename is None else filename.decode(errors="replace")


def _check(part: FormPart, before: list[FormPart]) -> None:
    """Several files may have one name, as may the members of a list; whatever else is named twice has two readings."""
    name, is_field = part.name, part.filename is None
    if is_field and part.end - part.start > VALUE_BYTES_MAX:
        raise InvalidField(f"{name}: longer than {VALUE_BYTES_MAX} bytes; a file is sent with its name.", param=name)
    if not name.endswith("]") and any(one.name == name and (is_field or one.filename is None) for one in before):
        raise InvalidField(f"{name}: a field is named twice; name each once.", param=name)
