"""Fields of one engine's own go to replicas that may be sent them, and to no other."""

from collections.abc import Sequence

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Request
from heterodyne.engines.client_fields import try_unknown
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.routing.no_replica import check_purpose


class PrivateFields:
    """What each replica's engine and pool let clients send. One per worker."""

    def __init__(self, fleet: FleetView) -> None:
        self._fleet = fleet

    def able(self, request: Request, replicas: Sequence[Replica]) -> Sequence[Replica]:
        """Of these replicas, those that may be sent every field of the request."""
        fields, fleet = request.private_fields, self._fleet
        return [one for one in replicas if try_unknown(fields, fleet.wire(one.id).client_fields) is None]

    def check(self, request: Request, replicas: Sequence[Replica]) -> None:
        """Raise where none of a model's replicas, busy or not, may be sent a field; its name is that of the first."""
        if not request.private_fields or not replicas or self.able(request, replicas):
            return
        first = replicas[0]
        check_purpose(request, first)
        path = try_unknown(request.private_fields, self._fleet.wire(first.id).client_fields)
        raise InvalidField(
            f"{path}: no field that clients may send to {first.model!r} ({first.engine}). Leave it out; an operator "
            "can let it pass with `allow_fields` of the pool.",
            param=path,
        )
