"""Questions to one engine over one connection, in JSON."""

import http.client
from typing import Any
from urllib.parse import urlsplit

import msgspec

from heterodyne.domain.errors import WeightsUnavailable

ANSWER_S = 120.0


class JsonCalls:
    """Blocking. A connection that the engine closed between two questions is made again."""

    def __init__(self, url: str) -> None:
        self.url = url
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.netloc, timeout=ANSWER_S)
        self._base = parts.path.rstrip("/")

    def ask(self, path: str, members: dict[str, Any]) -> Any:
        """The answer; raises what the engine says, or that it says nothing."""
        body = msgspec.json.encode(members)
        for is_last in (False, True):
            try:
                self._connection.request("POST", self._base + path, body, {"content-type": "application/json"})
                answer = self._connection.getresponse()
                said = answer.read()
                break
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if is_last:
                    raise WeightsUnavailable(f"{self.url}: does not answer: {error or type(error).__name__}") from error
        if answer.status != http.client.OK:
            raise WeightsUnavailable(
                f"{self.url}{path}: answers {answer.status}: {said[:300].decode(errors='replace')}"
            )
        return msgspec.json.decode(said)

    def close(self) -> None:
        self._connection.close()
