"""A request held to what its caller may ask for: refused where it asks for more, bounded where it does not say."""

from heterodyne.admission.scopes import allowed_regions, check_scopes, check_sizes, output_tokens_left
from heterodyne.domain.errors import NotAllowed
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.engines.json_edit import put
from heterodyne.gateway.routed_head import Arrival
from heterodyne.gateway.routing_request_builder import GENERATES, RoutingRequestBuilder
from heterodyne.gateway.stored.content_places import STORE, ContentPlaces
from heterodyne.gateway.stored.inner_call import KEPT_IN_FILE
from heterodyne.routing.routing_request import RoutingRequest


def scoped(
    request: Request, routing_request: RoutingRequest, caller: Caller, request_builder: RoutingRequestBuilder
) -> tuple[Request, RoutingRequest]:
    """Both, as its scopes leave them; raises NotAllowed with what is not."""
    check_scopes(caller, request.operation, request.model, routing_request.urgency)
    regions = allowed_regions(caller)
    if regions is not None:
        routing_request = routing_request.copied()
        routing_request.regions = regions
    try:
        return _sized(request, routing_request, caller)
    except NotAllowed:
        request_builder.doubt(routing_request)
        raise


def scoped_here(
    request: Request,
    routing_request: RoutingRequest,
    arrival: Arrival,
    request_builder: RoutingRequestBuilder,
    places: ContentPlaces,
) -> tuple[Request, RoutingRequest]:
    """The same, of one whose answer may be kept here: what may not rest where it would is refused."""
    if request.is_stored:
        places.check_documents(arrival.caller, STORE)
    if KEPT_IN_FILE in arrival.http.headers:
        places.check_files(arrival.caller)
    return scoped(request, routing_request, arrival.caller, request_builder)


def _sized(request: Request, routing_request: RoutingRequest, caller: Caller) -> tuple[Request, RoutingRequest]:
    sequences = request.sequences
    check_sizes(
        caller,
        prompt_tokens=routing_request.prompt_tokens,
        output_tokens_max=request.output_tokens_max,
        sequences=sequences,
    )
    if request.output_tokens_max is not None or request.operation not in GENERATES:
        return request, routing_request
    longest = output_tokens_left(caller, routing_request.prompt_tokens, sequences)
    if longest is None:
        return request, routing_request
    changes = {"max_tokens": b"%d" % longest}
    bounded = routing_request.copied()
    bounded.output_tokens = min(routing_request.output_tokens, float(longest * sequences))
    request = request.copied()
    request.output_tokens_max = longest
    if request.is_large:
        request.changes = changes
    else:
        request.body = put(request.body, changes)
    return request, bounded
