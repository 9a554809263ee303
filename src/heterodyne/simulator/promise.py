"""What a fleet was planned for, as its file says it: so that a simulation asks the same of it."""

from typing import Annotated

from msgspec import Meta, Struct

from heterodyne.physics.serving import Slo

Positive = Annotated[float, Meta(gt=0)]


class Promise(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[promise]` table of a fleet file."""

    ttft_ms: Positive
    itl_ms: Positive
    share: Annotated[float, Meta(gt=0, lt=1)] = 0.99  # of requests that get both
    requests_per_s: Positive | None = None  # None: nobody said
    prompt_tokens: Positive | None = None  # of a usual request
    output_tokens: Positive | None = None

    @property
    def slo(self) -> Slo:
        """The two times."""
        return Slo(ttft_s=self.ttft_ms / 1000, itl_s=self.itl_ms / 1000)
