"""The lengths of a request, as plans are made for them."""

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.model_spec import ModelSpec


class RequestShape(Struct, frozen=True, kw_only=True):
    """Requests of one length."""

    prompt_tokens: float
    output_tokens: float


def check_shape(shape: RequestShape, model: ModelSpec) -> None:
    """Raise `InvalidSpec` for lengths that are none, or that the model cannot hold."""
    for name, tokens in structs.asdict(shape).items():
        if not tokens >= 1:
            raise InvalidSpec(f"{name}: {tokens:g} is no number of tokens; give at least 1.")
    if shape.prompt_tokens + shape.output_tokens > model.context_tokens:
        raise InvalidSpec(
            f"{shape.prompt_tokens:g} + {shape.output_tokens:g} tokens are over the context of {model.name}, "
            f"{model.context_tokens} tokens."
        )
