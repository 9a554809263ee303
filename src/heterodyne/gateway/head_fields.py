"""What headers of a request say, in every API."""

from heterodyne.admission.callers import BEARER
from heterodyne.domain.errors import InvalidField, UnsupportedMediaType
from heterodyne.gateway.dialects import open_inference


def key_line(headers: dict[bytes, bytes], key_headers: tuple[bytes, ...]) -> bytes | None:
    """The key as an Authorization header has it, wherever the clients of an API put it; None: there is none."""
    authorization = headers.get(b"authorization")
    if authorization is not None or not key_headers:
        return authorization
    key = next((headers[name] for name in key_headers if name in headers), None)
    return None if key is None else BEARER + key


def check_media_type(headers: dict[bytes, bytes]) -> None:
    """Only declared JSON: a web page cannot send that to a loopback port without being asked first."""
    declared = headers.get(b"content-type", b"")
    if not declared.lower().startswith(b"application/json"):
        if b"inference-header-content-length" in headers:
            raise UnsupportedMediaType(open_inference.BINARY)
        raise UnsupportedMediaType("Send the body as JSON with the header `Content-Type: application/json`.")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise UnsupportedMediaType("Compressed request bodies are not supported.")


def longest_wait_s(asked: bytes, longest_s: float) -> float:
    """How long the client is ready to wait."""
    if not asked.isdigit() or len(asked) > 12 or not 0 < int(asked) <= longest_s * 1000:
        raise InvalidField(
            f"x-heterodyne-deadline-ms: a whole number of milliseconds up to {longest_s * 1000:.0f} is expected.",
            param="x-heterodyne-deadline-ms",
        )
    return int(asked) / 1000
