"""An exchange of tensors: one whole answer, no tokens to count, errors as the Open Inference Protocol has them."""

from heterodyne.domain.errors import HeterodyneError
from heterodyne.gateway import render
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.relay import StreamRelay


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
