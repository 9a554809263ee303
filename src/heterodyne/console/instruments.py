"""Everything the console has beside the fleet and the office: who may come in, what is live, the playground, and the
desks that work something out."""

from msgspec import Struct

from heterodyne.console.desks import Desks
from heterodyne.console.guard import Guard
from heterodyne.console.live_feed import LiveFeed
from heterodyne.console.playground import Playground


class Instruments(Struct, frozen=True, kw_only=True):
    """One per console."""

    guard: Guard
    feed: LiveFeed
    playground: Playground
    desks: Desks | None  # of the views that are worked out; None: there are none
    gateway_url: str  # as somebody would call it
