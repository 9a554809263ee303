"""Pure: what a caller may ask for. Each of its scopes must allow; a caller without any costs one comparison."""

from collections.abc import Iterable

from heterodyne.domain.errors import NotAllowed
from heterodyne.domain.request import Operation
from heterodyne.domain.tenant import Caller, Scopes
from heterodyne.domain.urgency import Urgency


def check_scopes(
    caller: Caller,
    operation: Operation,
    model: str,
    urgency: Urgency,
    *,
    prompt_tokens: int = 0,
    output_tokens_max: int | None = None,
) -> None:
    """Raise NotAllowed with what is not; `prompt_tokens` is exact or estimated, 0 where nobody can tell."""
    if not caller.scopes:
        return
    for scopes in caller.scopes:
        if scopes.models is not None and not _matches(model, scopes.models):
            raise NotAllowed(f"This key may not use the model {model[:100]!r}.", param="model")
        if scopes.operations is not None and operation not in scopes.operations:
            raise NotAllowed(f"This key may not ask for {operation.value}.")
        if scopes.classes is not None and urgency not in scopes.classes:
            raise NotAllowed(f"This key may not send requests of class {urgency.value}.")
        _check_sizes(scopes, prompt_tokens, output_tokens_max)


def output_tokens_limit(caller: Caller) -> int | None:
    """The longest answer that every scope allows, for requests that name no length; None: the engine's own limit."""
    limits = [scopes.output_tokens_max for scopes in caller.scopes if scopes.output_tokens_max is not None]
    return min(limits) if limits else None


def allowed_regions(caller: Caller) -> frozenset[str] | None:
    """Where the caller's requests may be answered; None: anywhere. An empty set: nowhere."""
    allowed: frozenset[str] | None = None
    for scopes in caller.scopes:
        if scopes.regions is not None:
            regions = frozenset(scopes.regions)
            allowed = regions if allowed is None else allowed & regions
    return allowed


def visible(caller: Caller, names: Iterable[str]) -> list[str]:
    """Of these models, those the caller may use."""
    lists = [scopes.models for scopes in caller.scopes if scopes.models is not None]
    return [name for name in names if all(_matches(name, models) for models in lists)]


def _matches(model: str, allowed: tuple[str, ...]) -> bool:
    """A name, or its beginning before a *."""
    if model in allowed:
        return True
    return any(name.endswith("*") and model.startswith(name[:-1]) for name in allowed)


def _check_sizes(scopes: Scopes, prompt_tokens: int, output_tokens_max: int | None) -> None:
    limit = scopes.output_tokens_max
    if limit is not None and output_tokens_max is not None and output_tokens_max > limit:
        raise NotAllowed(
            f"This key may ask for answers of at most {limit} tokens, not {output_tokens_max}.", param="max_tokens"
        )
    limit = scopes.context_tokens_max
    if limit is not None and prompt_tokens + (output_tokens_max or 0) > limit:
        raise NotAllowed(
            f"This key may use at most {limit} tokens of context; prompt and answer would be "
            f"{prompt_tokens + (output_tokens_max or 0)}."
        )
