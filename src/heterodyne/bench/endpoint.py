"""The server under test, taken apart once from its URL."""

from urllib.parse import urlsplit

from msgspec import Struct

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.operation import Operation

PATHS = {
    Operation.CHAT: "/chat/completions",
    Operation.COMPLETION: "/completions",
    Operation.EMBEDDING: "/embeddings",
}


class Endpoint(Struct, frozen=True, kw_only=True):
    """Where to connect and what every request head repeats."""

    host: str
    port: int
    tls: bool
    base_path: str
    api_key: str | None = None
    ca_file: str | None = None

    def post(self, operation: Operation, body: bytes) -> bytes:
        """A whole POST request."""
        head = self._head("POST", PATHS[operation])
        return f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body

    def get(self, path: str) -> bytes:
        """A whole GET request; `path` is relative to the API's base."""
        return f"{self._head('GET', path)}\r\n".encode()

    def _head(self, method: str, path: str) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        authorization = f"authorization: Bearer {self.api_key}\r\n" if self.api_key else ""
        return (
            f"{method} {self.base_path}{path} HTTP/1.1\r\nhost: {host}:{self.port}\r\n"
            f"user-agent: heterodyne-bench\r\naccept: */*\r\n{authorization}"
        )


def parse_endpoint(url: str, *, api_key: str | None = None, ca_file: str | None = None) -> Endpoint:
    """A URL without a path means its `/v1`."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        port = parts.port
    except ValueError as error:
        raise SettingsInvalid(f"{url!r}: {error}") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise SettingsInvalid(f"{url!r} is not an HTTP address; write http://127.0.0.1:8080")
    if any(ord(letter) <= 32 for letter in url + (api_key or "")):
        raise SettingsInvalid("the URL and the API key may not hold spaces or line ends")
    return Endpoint(
        host=parts.hostname,
        port=port or (443 if parts.scheme == "https" else 80),
        tls=parts.scheme == "https",
        base_path=parts.path.rstrip("/") or "/v1",
        api_key=api_key,
        ca_file=ca_file,
    )
