"""A request held to what its caller may ask for: refused where it asks for more, bounded where it does not say."""

from msgspec import structs

from heterodyne.admission.scopes import allowed_regions, check_scopes, output_tokens_limit
from heterodyne.domain.request import Request
from heterodyne.domain.tenant import Caller
from heterodyne.engines.json_edit import put
from heterodyne.gateway.asker import GENERATES
from heterodyne.routing.ask import Ask


def scoped(request: Request, ask: Ask, caller: Caller) -> tuple[Request, Ask]:
    """Both, as its scopes leave them; raises NotAllowed with what is not."""
    check_scopes(
        caller,
        request.operation,
        request.model,
        ask.urgency,
        prompt_tokens=ask.prompt_tokens,
        output_tokens_max=request.output_tokens_max,
    )
    regions, longest = allowed_regions(caller), output_tokens_limit(caller)
    if regions is not None:
        ask = structs.replace(ask, regions=regions)
    if longest is not None and request.output_tokens_max is None and request.operation in GENERATES:
        body = put(request.body, {"max_tokens": b"%d" % longest})
        request = structs.replace(request, body=body, output_tokens_max=longest)
        ask = structs.replace(ask, output_tokens=min(ask.output_tokens, float(longest)))
    return request, ask
