"""An exchange of tensors: one whole answer, no tokens to count, errors as the Open Inference Protocol has them."""

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Usage
from heterodyne.gateway import render
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.relay import StreamRelay

NO_TOKENS = Usage()


class TensorExchange(Exchange):
    """Everything else is as with any other request: retries, rivals, deadlines, the end that comes once."""

    __slots__ = ()

    def _fail(self, error: HeterodyneError, relay: StreamRelay | None = None) -> None:
        if self._is_ended:
            return
        self._end(error.status, error.code)
        client, headers = self._client, render.error_headers(error) + self._headers()
        body = render.plain_error_body(error)
        client.finish(render.whole(error.status, headers, body, keeps_alive=client.keeps_alive))

    def _record(
        self, status: int, reason: str, reported: Usage | None, response_bytes: int, relay: StreamRelay | None
    ) -> RequestRecord:
        return super()._record(status, reason, NO_TOKENS, response_bytes, relay)
