"""How a page is answered: at once, or piece by piece."""

from heterodyne.gateway import render
from heterodyne.gateway.pages import PageResponse
from heterodyne.wire.message import HttpRequest
from heterodyne.wire.server_connection import ServerConnection


def answer_page(
    page: PageResponse,
    identity: render.IdentityHeaders,
    connection: ServerConnection,
    http: HttpRequest,
    request_id: str,
) -> None:
    """The page, as the answer to a request; nothing where its client has left."""
    if not connection.is_answering(http):
        return
    headers, is_head = page.headers + identity.of(request_id), http.method == b"HEAD"
    keeps_alive = connection.keeps_alive
    if page.rest is None:
        connection.finish(render.whole(page.status, headers, page.body, keeps_alive=keeps_alive, is_head=is_head))
        return
    size = page.rest.size_bytes
    if size is None:
        head = render.stream_head(headers, chunked=connection.speaks_chunked, keeps_alive=keeps_alive)
    else:
        head = render.whole_head(page.status, headers, size, keeps_alive=keeps_alive)
    if is_head:
        connection.finish(head)
    else:
        connection.write(head)
        page.rest.send(connection)
