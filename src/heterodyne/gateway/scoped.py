"""A request held to what its caller may ask for: refused where it asks for more, bounded where it does not say."""

from msgspec import structs

from heterodyne.admission.scopes import allowed_regions, check_scopes, check_sizes, output_tokens_left
from heterodyne.domain.errors import NotAllowed
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.engines.json_edit import put
from heterodyne.gateway.asker import GENERATES, AskMaker
from heterodyne.routing.ask import Ask


def scoped(request: Request, ask: Ask, caller: Caller, asks: AskMaker) -> tuple[Request, Ask]:
    """Both, as its scopes leave them; raises NotAllowed with what is not."""
    check_scopes(caller, request.operation, request.model, ask.urgency)
    regions = allowed_regions(caller)
    if regions is not None:
        ask = structs.replace(ask, regions=regions)
    try:
        return _sized(request, ask, caller)
    except NotAllowed:
        asks.doubt(ask)
        raise


def _sized(request: Request, ask: Ask, caller: Caller) -> tuple[Request, Ask]:
    sequences = request.sequences
    check_sizes(
        caller, prompt_tokens=ask.prompt_tokens, output_tokens_max=request.output_tokens_max, sequences=sequences
    )
    if request.output_tokens_max is not None or request.operation not in GENERATES:
        return request, ask
    longest = output_tokens_left(caller, ask.prompt_tokens, sequences)
    if longest is None:
        return request, ask
    changes = {"max_tokens": b"%d" % longest}
    bounded = structs.replace(ask, output_tokens=min(ask.output_tokens, float(longest * sequences)))
    if request.is_large:
        return structs.replace(request, changes=changes, output_tokens_max=longest), bounded
    return structs.replace(request, body=put(request.body, changes), output_tokens_max=longest), bounded
