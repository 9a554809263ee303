"""What is known of a request once its head has come."""

from heterodyne.admission.callers import CallerRing
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.routes import Route
from heterodyne.wire.message import HeadCheck


class RoutedHead(HeadCheck, frozen=True, kw_only=True, gc=False):
    """A head that was looked at: where it leads, who sent it, and by which keys that was found."""

    route: Route | None
    caller: Caller | None
    callers: CallerRing
