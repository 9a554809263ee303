"""What the API description needs to know of a path beside its route."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from heterodyne.domain.errors import HeterodyneError

ErrorKind = type[HeterodyneError]


class Described(Struct, frozen=True, kw_only=True):
    """What a route cannot say of itself."""

    summary: str
    answer: type[Struct] | None = None  # None: no JSON
    media_types: tuple[str, ...] = ()  # of answers that are neither JSON nor events
    fields: type[Struct] | None = None  # of the request body
    form: Mapping[str, Any] | None = None  # the schema of a body that is a form
    event: type[Struct] | None = None  # of each event, where the answer may be streamed
    ends_with_done: bool = False  # as OpenAI's streams do
    refusals: dict[int, type[Struct]] = {}  # statuses with an answer of their own beside the error shape
    raises: tuple[ErrorKind, ...] = ()
