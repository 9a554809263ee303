"""Routing decisions as the admin API shows them."""

from msgspec import Struct

from heterodyne.domain.record import RequestRecord


class DecisionPage(Struct, frozen=True, kw_only=True):
    """How the latest requests were placed and fared, the newest first."""

    decisions: tuple[RequestRecord, ...]
