"""A console's instruments over a scripted fleet, and a browser's headers."""

from collections.abc import Callable

from heterodyne.console.fleet.pages import FleetPage
from heterodyne.console.guard import Guard
from heterodyne.console.live.feed import LiveFeed
from heterodyne.console.live.gateway_minute import OtherGateway
from heterodyne.console.live.recent_activity import RecentActivity
from heterodyne.console.live.service import LiveService
from heterodyne.console.playground.service import GatewayPlace, Playground
from heterodyne.console.services import ConsoleServices, Instruments
from heterodyne.console.settings import ConsoleSettings
from tests.support.admin_fleets import ScriptedFleet

HOST = "127.0.0.1:8081"
# What a browser adds to what the console's own page asks for.
BROWSER = {
    "host": HOST,
    "origin": f"http://{HOST}",
    "x-heterodyne-console": "1",
    "content-type": "application/json",
}


def live_service(
    recent_activity: RecentActivity | None = None,
    *,
    fleet: Callable[[], FleetPage] | None = None,
    now: Callable[[], float] = lambda: 1_793_534_400.0,
    others: Callable[[], tuple[OtherGateway, ...]] = tuple,
) -> LiveService:
    return LiveService(
        fleet or ScriptedFleet().page,
        recent_activity or RecentActivity(),
        alerts=tuple,
        problems=tuple,
        limit_unknown=lambda: 1024,
        wall_clock=now,
        others=others,
    )


def instruments(
    settings: ConsoleSettings, feed: LiveFeed | None = None, services: ConsoleServices | None = None
) -> Instruments:
    """Nobody listens where its playground asks."""
    place = GatewayPlace(host="127.0.0.1", port=1, certificate=None, deadline_s=1.0)
    return Instruments(
        guard=Guard.of(settings),
        feed=feed or LiveFeed(live_service()),
        playground=Playground(lambda: place, "key"),
        services=services,
        gateway_url="http://127.0.0.1:8080",
    )
