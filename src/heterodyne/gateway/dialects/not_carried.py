"""What another API's body says that no engine can be told, and that does no harm: it is named in the answer."""

from heterodyne.domain.path_notes import PathNotes
from heterodyne.domain.request import Request


class NotCarried(PathNotes):
    """Of one body."""

    def told(self, request: Request, received: bytes) -> Request:
        """The request, with what its client sent and what of that it does not carry."""
        request.received, request.not_carried = received, self.paths
        return request
