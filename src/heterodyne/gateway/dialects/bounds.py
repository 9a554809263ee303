"""How long names may be and how many things one request may hold, so that no value is a burden by its length alone."""

from typing import Annotated

from msgspec import Meta

from heterodyne.domain.errors import InvalidField

ModelName = Annotated[str, Meta(max_length=256)]
Name = Annotated[str, Meta(max_length=512)]  # of users, functions, calls: what clients call things
Word = Annotated[str, Meta(max_length=64)]  # a kind among a few
StopText = Annotated[str, Meta(max_length=1024)]
BIASES_MAX = 16384  # tokens that `logit_bias` may name
STOPS_MAX = 64
TENSORS_MAX = 1024
DIMENSIONS_MAX = 64


def check_count(field: str, things: str, count: int, most: int) -> None:
    """Raise where there are more of them than there may be."""
    if count > most:
        raise InvalidField(f"{field}: {count} {things}; the limit is {most}.", param=field)
