"""The paths of what is live: once, and again every second."""

from starlette.requests import Request
from starlette.responses import Response

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.errors import TooManyOpen
from heterodyne.console.event_stream import EventStream
from heterodyne.console.guard import Guard
from heterodyne.console.live.feed import LiveFeed
from heterodyne.console.live.pages import LivePage
from heterodyne.domain.errors import HeterodyneError


def live_routes(guard: Guard, feed: LiveFeed) -> list[AdminRoute]:
    """For viewers and operators."""

    async def now(_: Request) -> LivePage:
        return feed.service.page()

    async def live(request: Request) -> Response:
        def is_welcome() -> bool:
            """Whether the key or the session still holds; without it the feed ends."""
            try:
                guard.identify(request)
            except HeterodyneError:
                return False
            return True

        return EventStream(feed.listen(is_welcome))

    return [
        AdminRoute(
            method="GET",
            path="/admin/now",
            endpoint=guard.reading(now),
            summary="Show the fleet and what has just happened",
            answer=LivePage,
        ),
        AdminRoute(
            method="GET",
            path="/admin/live",
            endpoint=guard.showing(live),
            summary="The same once a second, as events `now`",
            answer=LivePage,
            raises=(TooManyOpen,),
            is_stream=True,
        ),
    ]
