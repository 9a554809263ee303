"""Pure: what a caller may ask for. Each of its scopes must allow; a caller without any costs one comparison."""

from collections.abc import Iterable

from msgspec import structs

from heterodyne.domain.errors import NotAllowed
from heterodyne.domain.operation import Operation
from heterodyne.domain.tenant import Caller, Scopes
from heterodyne.domain.urgency import Urgency


def check_scopes(caller: Caller, operation: Operation, model: str, urgency: Urgency) -> None:
    """Raise NotAllowed with what is not."""
    for scopes in caller.scopes:
        if scopes.models is not None and not _matches(model, scopes.models):
            raise NotAllowed(f"This key may not use the model {model[:100]!r}.", param="model")
        if scopes.operations is not None and operation not in scopes.operations and not _is_counted(operation, scopes):
            raise NotAllowed(f"This key may not ask for {operation.value}.")
        if scopes.classes is not None and urgency not in scopes.classes:
            raise NotAllowed(f"This key may not send requests of class {urgency.value}.")


def _is_counted(operation: Operation, scopes: Scopes) -> bool:
    """Whoever may have the tokens of a text may have their number."""
    return operation is Operation.COUNT and Operation.TOKENIZE in (scopes.operations or ())


def check_sizes(caller: Caller, *, prompt_tokens: int, output_tokens_max: int | None, sequences: int = 1) -> None:
    """Raise NotAllowed with what is too long; `prompt_tokens` is exact or estimated, 0 where nobody can tell.

    A request may ask for several answers, each as long as `output_tokens_max`: scopes are of all of them together.
    """
    for scopes in caller.scopes:
        _check_sizes(scopes, prompt_tokens, output_tokens_max, sequences)


def output_tokens_left(caller: Caller, prompt_tokens: int, sequences: int) -> int | None:
    """The longest answer that every scope allows each sequence of a request that names no length; None: any.

    Raises NotAllowed where that is none at all.
    """
    limits = [scopes.output_tokens_max for scopes in caller.scopes if scopes.output_tokens_max is not None]
    limits += [
        scopes.context_tokens_max - prompt_tokens for scopes in caller.scopes if scopes.context_tokens_max is not None
    ]
    if not limits:
        return None
    longest = min(limits) // sequences
    if longest < 1:
        raise NotAllowed(
            f"This key may have {max(0, min(limits))} more tokens answered to this prompt, and {sequences} "
            f"{'answers were' if sequences > 1 else 'answer was'} asked for.",
            param="n" if sequences > 1 else None,
        )
    return longest


def allowed_regions(caller: Caller) -> frozenset[str] | None:
    """Where the caller's requests may be answered; None: anywhere. An empty set: nowhere."""
    allowed: frozenset[str] | None = None
    for scopes in caller.scopes:
        if scopes.regions is not None:
            regions = frozenset(scopes.regions)
            allowed = regions if allowed is None else allowed & regions
    return allowed


def within(caller: Caller, regions: Iterable[str]) -> Caller:
    """The same, who may be answered in these regions only."""
    return structs.replace(caller, scopes=(*caller.scopes, Scopes(regions=tuple(regions))))


def visible(caller: Caller, names: Iterable[str]) -> list[str]:
    """Of these models, those the caller may use."""
    lists = [scopes.models for scopes in caller.scopes if scopes.models is not None]
    return [name for name in names if all(_matches(name, models) for models in lists)]


def _matches(model: str, allowed: tuple[str, ...]) -> bool:
    """A name, or its beginning before a *."""
    if model in allowed:
        return True
    return any(name.endswith("*") and model.startswith(name[:-1]) for name in allowed)


def _check_sizes(scopes: Scopes, prompt_tokens: int, output_tokens_max: int | None, sequences: int) -> None:
    limit, output_tokens = scopes.output_tokens_max, (output_tokens_max or 0) * sequences
    if limit is not None and output_tokens > limit:
        times = f" ({sequences} answers of {output_tokens_max})" if sequences > 1 else ""
        raise NotAllowed(
            f"This key may ask for answers of at most {limit} tokens, not {output_tokens}{times}.", param="max_tokens"
        )
    limit = scopes.context_tokens_max
    if limit is not None and prompt_tokens + output_tokens > limit:
        raise NotAllowed(
            f"This key may use at most {limit} tokens of context; prompt and answer would be "
            f"{prompt_tokens + output_tokens}."
        )
