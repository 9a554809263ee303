"""Pure: whether a request can fit a model's context, as far as the door can tell."""

from heterodyne.domain.errors import ContextExceeded, InvalidField
from heterodyne.domain.request import Operation, Request

_PROMPT_FIELD = {Operation.CHAT: "messages", Operation.COMPLETION: "prompt", Operation.EMBEDDING: "input"}


def check_context(request: Request, context_tokens: int) -> None:
    """Raise when token counts known exactly are over the context; the engine judges what only it can count."""
    asked = request.output_tokens_max
    if asked is not None and asked > context_tokens:
        raise InvalidField(
            f"max_tokens: {asked} tokens were asked for; the context of {request.model!r} is {context_tokens} tokens.",
            param="max_tokens",
        )
    known = request.prompt_tokens
    if known is not None and known > context_tokens and request.operation is not Operation.EMBEDDING:
        raise ContextExceeded(
            f"The prompt has {known} tokens; the context of {request.model!r} is {context_tokens} tokens.",
            param=_PROMPT_FIELD.get(request.operation),
        )
