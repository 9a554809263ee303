"""Pure: whether a request can fit a model's context, as far as the door can tell, and how large a one it wants."""

from collections.abc import Sequence
from math import inf

from msgspec import Struct

from heterodyne.domain.errors import ContextExceeded, HeterodyneError, InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import CHARS_PER_TOKEN_MAX, Request

GENERATES = (Operation.CHAT, Operation.COMPLETION)
TRUNCATES = "truncate"  # as engines begin the names of fields by which a client has its prompt cut to fit

_PROMPT_FIELD = {Operation.CHAT: "messages", Operation.COMPLETION: "prompt", Operation.EMBEDDING: "input"}


class Contexts(Struct, frozen=True, gc=False):
    """The contexts of one model's replicas, in tokens; infinite: a replica does not say."""

    least: float  # of those that may be given work, or of all where none may
    most: float
    ever: float  # of all, those included that are down for now


def contexts_of(replicas: Sequence[Replica], longest: int | None = None) -> Contexts:
    """Of these; no sequence of the model may be longer than its rule says, whatever they hold."""
    stated = [_stated_context(one, longest) for one in replicas]
    up = [_stated_context(one, longest) for one in replicas if one.is_takeable] or stated
    return Contexts(min(up, default=inf), max(up, default=inf), max(stated, default=inf))


def context_wanted(request: Request, prompt_tokens: int, contexts: Contexts) -> float:
    """The context that a replica should have for it; 0: any will do. Raises where the largest cannot be enough.

    `prompt_tokens` are estimated: by them it goes where it should fit, and not to one where it should not, but what is
    only estimated is no reason to refuse it. The engine judges what only it can count.
    """
    wanted = prompt_tokens + (request.output_tokens_max or 0)
    if wanted <= contexts.least or request.operation not in GENERATES:
        return 0.0
    if wanted <= contexts.most:
        return wanted
    if contexts.ever < inf:
        check_context(request, int(contexts.ever))
    return contexts.most if _fits(request, int(contexts.most)) else wanted


def check_context(request: Request, context_tokens: int) -> None:
    """Raise when a request is over the context however its text is cut into tokens."""
    asked = request.output_tokens_max
    if asked is not None and asked > context_tokens:
        raise InvalidField(
            f"max_tokens: {asked} tokens were asked for; the context of {request.model!r} is {context_tokens} tokens.",
            param="max_tokens",
        )
    known = request.prompt_tokens
    if known is not None:
        has, is_over = f"{known} tokens", known > context_tokens
    else:
        chars = request.prompt_chars
        has, is_over = f"{chars} characters", chars > context_tokens * CHARS_PER_TOKEN_MAX
    if is_over and request.operation in GENERATES and not _may_be_shorter(request):
        raise ContextExceeded(
            f"The prompt has {has}; the context of {request.model!r} is {context_tokens} tokens.",
            param=_PROMPT_FIELD.get(request.operation),
        )


def _fits(request: Request, context_tokens: int) -> bool:
    try:
        check_context(request, context_tokens)
    except HeterodyneError:
        return False
    return True


def _stated_context(replica: Replica, longest: int | None) -> float:
    stated = inf if replica.context_tokens is None else replica.context_tokens
    return stated if longest is None else min(stated, longest)


def _may_be_shorter(request: Request) -> bool:
    """Whether what was counted are several prompts, or the one there is may be cut, by us or by its engine."""
    return (
        request.prompts > 1
        or request.kept_share is not None
        or any(field.startswith(TRUNCATES) for field in request.private_fields)
    )
