"""Everything the console has beside the fleet and the office: who may come in, what is live, the playground, and the
desks that work something out."""

from msgspec import Struct

from heterodyne.console.guard import Guard
from heterodyne.console.live.feed import LiveFeed
from heterodyne.console.playground.service import Playground
from heterodyne.console.services import ConsoleServices


class Instruments(Struct, frozen=True, kw_only=True):
    """One per console."""

    guard: Guard
    feed: LiveFeed
    playground: Playground
    services: ConsoleServices | None  # of the views that are worked out; None: there are none
    gateway_url: str  # as somebody would call it
