"""What chat and text completions have in common: the fields that bound and shape generation."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway.settings import GatewaySettings

Penalty = Annotated[float, Meta(ge=-2, le=2)]
Count = Annotated[int, Meta(ge=1)]


class StreamOptions(Struct):
    """How a stream ends."""

    include_usage: bool | None = None


class GenerationFields(Struct):
    """Typed where the API gives a type; anything else in the body passes unread."""

    model: str
    stream: bool | None = None
    stream_options: StreamOptions | UnsetType | None = UNSET
    max_tokens: Count | None = None
    n: Count | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    seed: int | None = None
    stop: str | Annotated[list[str], Meta(max_length=64)] | None = None
    logit_bias: dict[str, float] | None = None
    user: str | None = None

    def wants_usage(self) -> bool:
        options = self.stream_options
        return isinstance(options, StreamOptions) and bool(options.include_usage)


def check_bounds(fields: GenerationFields, settings: GatewaySettings, output_tokens_max: int | None) -> None:
    """Refuse numbers no model could serve."""
    if fields.n is not None and fields.n > settings.choices_max:
        raise InvalidField(f"n: {fields.n} choices were asked for; the limit is {settings.choices_max}.", param="n")
    if output_tokens_max is not None and output_tokens_max > settings.output_tokens_max:
        raise InvalidField(
            f"max_tokens: {output_tokens_max} tokens were asked for; the limit is {settings.output_tokens_max}.",
            param="max_tokens",
        )
    if isinstance(fields.stream_options, StreamOptions) and not fields.stream:
        raise InvalidField("stream_options: only allowed when `stream` is true.", param="stream_options")
