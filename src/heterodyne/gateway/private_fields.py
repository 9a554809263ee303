"""Fields of one engine's own go to replicas that may be sent them, and to no other."""

from collections.abc import Sequence

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Request
from heterodyne.engines.client_fields import try_unknown
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.routing.no_replica import check_purpose


def knowing(request: Request, replicas: Sequence[Replica], fleet: FleetView) -> Sequence[Replica]:
    """Of these replicas, those that may be sent every field of the request."""
    fields = request.private_fields
    return [one for one in replicas if try_unknown(fields, fleet.wire(one.id).client_fields) is None]


def check_fields(request: Request, model: str, fleet: FleetView) -> None:
    """Raise where no replica of the model, busy or not, may be sent a field; its name is that of the first such."""
    replicas = fleet.snapshot.by_model.get(model)
    if not request.private_fields or not replicas or knowing(request, replicas, fleet):
        return
    first = replicas[0]
    check_purpose(request, first)
    path = try_unknown(request.private_fields, fleet.wire(first.id).client_fields)
    raise InvalidField(
        f"{path}: no field that clients may send to {model!r} ({first.engine}). Leave it out; an operator can let it "
        f"pass with `allow_fields` of the pool.",
        param=path,
    )
