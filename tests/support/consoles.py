"""A console's instruments over a scripted fleet, and a browser's headers."""

from collections.abc import Callable

from heterodyne.console.desks import Desks
from heterodyne.console.fleet_page import FleetPage
from heterodyne.console.guard import Guard
from heterodyne.console.instruments import Instruments
from heterodyne.console.live_desk import LiveDesk
from heterodyne.console.live_feed import LiveFeed
from heterodyne.console.observatory import Observatory
from heterodyne.console.playground import GatewayPlace, Playground
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


def live_desk(
    observatory: Observatory | None = None,
    *,
    fleet: Callable[[], FleetPage] | None = None,
    now: Callable[[], float] = lambda: 1_793_534_400.0,
) -> LiveDesk:
    return LiveDesk(
        fleet or ScriptedFleet().page,
        observatory or Observatory(),
        alerts=tuple,
        problems=tuple,
        limit_unknown=lambda: 1024,
        wall_clock=now,
    )


def instruments(settings: ConsoleSettings, feed: LiveFeed | None = None, desks: Desks | None = None) -> Instruments:
    """Nobody listens where its playground asks."""
    place = GatewayPlace(host="127.0.0.1", port=1, certificate=None, deadline_s=1.0)
    return Instruments(
        guard=Guard.of(settings),
        feed=feed or LiveFeed(live_desk()),
        playground=Playground(lambda: place, "key"),
        desks=desks,
        gateway_url="http://127.0.0.1:8080",
    )
