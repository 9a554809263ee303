"""`POST /admin/playground`: a chat with a model, streamed."""

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.errors import TooManyOpen
from heterodyne.console.guard import Guard
from heterodyne.console.playground.pages import PlacedEvent, PlaygroundRequest
from heterodyne.console.playground.service import Playground


def playground_routes(guard: Guard, playground: Playground) -> list[AdminRoute]:
    """For operators: an answer takes a replica's time."""
    return [
        AdminRoute(
            method="POST",
            path="/admin/playground",
            endpoint=guard.using(PlaygroundRequest, playground.chat),
            summary="Chat with a model or one pool of it; the answer's own events follow one named `placed`",
            body=PlaygroundRequest,
            answer=PlacedEvent,
            raises=(TooManyOpen,),
            is_stream=True,
        )
    ]
