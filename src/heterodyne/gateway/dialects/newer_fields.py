"""Bodies of clients that learn new fields faster than anybody here: what is not known is named in the answer.

Agents are updated every week, and a hint that they send to their maker's own service must not end them. What would have
somebody run tools is a field of its own and refused by its name; so is what means something in a chat and nothing here.
"""

import re
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway.dialects import chat
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.not_carried import NotCarried

NEWER_MAX: Final = 16  # fields that are not known, of one body
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")

Shape = TypeVar("Shape", bound=Struct)

_members = msgspec.json.Decoder(dict[str, Raw])


class NewerFields(Generic[Shape]):
    """Reads bodies of one shape."""

    def __init__(self, shape: type[Shape]) -> None:
        self._lenient = msgspec.json.Decoder(shape)
        known = msgspec.defstruct(f"Known{shape.__name__}", [], bases=(shape,), forbid_unknown_fields=True)
        self._strict: msgspec.json.Decoder[Shape] = msgspec.json.Decoder(known)
        self._names = frozenset(shape.__struct_encode_fields__)

    def read(self, body: bytes, lost: NotCarried) -> Shape:
        """The fields; those that nobody knows are noted. Raises what `decode` does."""
        try:
            return self._strict.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            fields = decode(self._lenient, body)
        newer = decode(_members, body).keys() - self._names
        misplaced = min(newer & chat.API, default=None)
        if misplaced is not None:
            raise InvalidField(f"{misplaced}: this API has no such field; chat completions have it.", param=misplaced)
        if len(newer) > NEWER_MAX:
            raise InvalidField(f"The body has more than {NEWER_MAX} fields that are not known here.", param=None)
        for name in sorted(newer):
            if _PLAIN.fullmatch(name) is None:
                raise InvalidField(f"Object contains unknown field {name[:64]!r}.", param=None)
            lost.note(name, is_set=True)
        return fields
