"""What an operator may ask about a request that is not sent."""

from typing import Annotated

from msgspec import Meta, Struct, field

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.catalogue import check_objective

TOKENS_MAX = 10_000_000
MS_MAX = 1e9
SESSION_CHARS_MAX = 256

Tokens = Annotated[int, Meta(ge=1, le=TOKENS_MAX)]
Milliseconds = Annotated[float, Meta(gt=0, le=MS_MAX)]


class Question(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where such a request would go, and why. What is left out is what the gateway would expect of it."""

    model: str
    policy: str = ""  # empty: the model's own
    slo_ttft_ms: Milliseconds | None = None
    slo_itl_ms: Milliseconds | None = None
    urgency: str = field(default=Urgency.INTERACTIVE.value, name="class")
    session: Annotated[str, Meta(max_length=SESSION_CHARS_MAX)] = ""
    prompt: str | None = None  # the text of one user message
    prompt_tokens: Tokens | None = None  # a thousand where neither is given
    output_tokens: Tokens | None = None
    api_key_sha256: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")] = ""  # whose prompts it is compared with

    def __post_init__(self) -> None:
        if self.prompt is not None and self.prompt_tokens is not None:
            raise InvalidField("Give either `prompt` or `prompt_tokens`.", param="prompt_tokens")
        if self.policy:
            check_objective(self.policy)
        if self.urgency not in tuple(Urgency):
            raise unknown_name("class", self.urgency, tuple(Urgency))
