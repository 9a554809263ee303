"""Requests with something changed, and records as the path has them."""

from heterodyne.domain.ended_request import EndedRequest
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request


def changed(request: Request, **fields: object) -> Request:
    """A copy with other values."""
    other = request.copied()
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def ended(record: RequestRecord) -> EndedRequest:
    """What became the record."""
    made = EndedRequest()
    for name in record.__struct_fields__:
        setattr(made, name, getattr(record, name))
    return made
