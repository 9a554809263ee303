"""What the head of a form has to say before its body is read."""

from urllib.parse import urlsplit

from python_multipart.multipart import parse_options_header

from heterodyne.domain.errors import InvalidField, NotAllowed, UnsupportedMediaType
from heterodyne.engines.form_body import BOUNDARY_CHARS_MAX, FORM


def boundary_of(headers: dict[bytes, bytes]) -> bytes:
    """What parts the form that a head declares; raises UnsupportedMediaType, InvalidField or NotAllowed."""
    media_type, options = parse_options_header(headers.get(b"content-type", b""))
    if media_type.lower() != FORM.encode():
        raise UnsupportedMediaType("Send the file and the fields beside it as `multipart/form-data`.")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise UnsupportedMediaType("Compressed request bodies are not supported.")
    boundary = options.get(b"boundary", b"")
    if not 0 < len(boundary) <= BOUNDARY_CHARS_MAX or b"\r" in boundary or b"\n" in boundary:
        raise InvalidField(f"content-type: a boundary of 1 to {BOUNDARY_CHARS_MAX} characters is expected.")
    _check_origin(headers)
    return boundary


def _check_origin(headers: dict[bytes, bytes]) -> None:
    """A web page may send forms to other origins without asking, but not with a key, and not without saying where it
    is from: a visitor's browser must not fill the disk of a keyless gateway, nor set its engines to work."""
    origin = headers.get(b"origin")
    if origin is None or b"authorization" in headers:
        return
    if urlsplit(origin.decode("ascii", "replace")).netloc.encode() != headers.get(b"host"):
        raise NotAllowed("Web pages of other origins may not send files here without a key.")
