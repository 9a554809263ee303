"""What another API's body says that no engine can be told, and that does no harm: it is named in the answer."""

from heterodyne.domain.request import Request


class NotCarried:
    """By path, once each."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}

    def note(self, path: str, *, is_set: bool) -> None:
        if is_set:
            self._paths[path] = None

    def told(self, request: Request, received: bytes) -> Request:
        """The request, with what its client sent and what of that it does not carry."""
        request.received, request.not_carried = received, tuple(self._paths)
        return request
