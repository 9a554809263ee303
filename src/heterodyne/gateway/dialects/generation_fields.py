"""The typed fields that chat and text completions have in common."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from heterodyne.gateway.dialects.body import BIASES_MAX, STOPS_MAX, ModelName, Name, StopText

Penalty = Annotated[float, Meta(ge=-2, le=2)]
Count = Annotated[int, Meta(ge=1)]


class StreamOptions(Struct):
    """How a stream ends."""

    include_usage: bool | None = None


class GenerationFields(Struct):
    """Typed where the API gives a type; anything else in the body passes unread, where its engine may have it."""

    model: ModelName
    stream: bool | None = None
    stream_options: StreamOptions | UnsetType | None = UNSET
    max_tokens: Count | None = None
    n: Count | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    seed: int | None = None
    stop: StopText | Annotated[list[StopText], Meta(max_length=STOPS_MAX)] | None = None
    logit_bias: Annotated[dict[str, float], Meta(max_length=BIASES_MAX)] | None = None
    user: Name | None = None
