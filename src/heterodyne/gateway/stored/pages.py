"""What pages of kept objects have in common: lists, ids in paths, bodies."""

from collections.abc import Sequence
from typing import Final, TypeVar
from urllib.parse import parse_qsl, unquote

import msgspec

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway import render
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.pages import PageResponse
from heterodyne.wire.message import HttpRequest

LIMIT: Final = 20
LIMIT_MAX: Final = 100
ORDERS: Final = ("asc", "desc")
ID_CHARS_MAX: Final = 200

T = TypeVar("T")

encode = msgspec.json.Encoder().encode


class ListQuery:
    """How much of a list is asked for, and from where."""

    def __init__(
        self, http: HttpRequest, *, is_descending: bool, limit: int = LIMIT, limit_max: int = LIMIT_MAX
    ) -> None:
        self.members = dict(parse_qsl(http.query.decode("ascii", "replace")))
        self.after = self.members.get("after", "")[:ID_CHARS_MAX]
        asked = self.members.get("limit", str(limit))
        if not asked.isdigit() or not 0 < int(asked[:9]) <= limit_max:
            raise InvalidField(f"limit: a whole number up to {limit_max} is expected.", param="limit")
        self.limit = int(asked)
        order = self.members.get("order", "desc" if is_descending else "asc")
        if order not in ORDERS:
            raise InvalidField("order: asc or desc is expected.", param="order")
        self.is_descending = order == "desc"

    def listed(self, named: Sequence[tuple[str, bytes]]) -> PageResponse:
        """What it asks for of all there are, by their ids and in their order."""
        ordered = list(reversed(named)) if self.is_descending else list(named)
        ids = [name for name, _ in ordered]
        start = ids.index(self.after) + 1 if self.after in ids else 0
        end = start + self.limit
        return listed([body for _, body in ordered[start:end]], ids[start:end], has_more=end < len(ordered))


def id_in(http: HttpRequest, place: int) -> str:
    """The segment of the path that names something, counted from 0."""
    return unquote(http.path.split(b"/")[place + 1].decode("ascii", "replace"))[:ID_CHARS_MAX]


def body_of(http: HttpRequest, decoder: "msgspec.json.Decoder[T]") -> T:
    """What was sent; nothing is as good as an empty object."""
    return decode(decoder, http.body or b"{}")


def listed(bodies: Sequence[bytes], ids: Sequence[str], *, has_more: bool) -> PageResponse:
    """A list of objects in JSON."""
    first, last = (ids[0], ids[-1]) if ids else (None, None)
    return shown(
        b'{"object":"list","data":[%b],"first_id":%b,"last_id":%b,"has_more":%b}'
        % (b",".join(bodies), encode(first), encode(last), b"true" if has_more else b"false")
    )


def deleted(id: str, what: str) -> PageResponse:
    """It is gone."""
    return shown(encode({"id": id, "object": what, "deleted": True}))


def shown(body: bytes) -> PageResponse:
    """JSON."""
    return PageResponse(200, render.JSON, body)
