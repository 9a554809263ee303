"""Pure: on whose account a proxy's request goes, and how far its objective lets it come."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import structs

from heterodyne.admission.callers import PROXY
from heterodyne.domain.tenant import Caller, ProjectId
from heterodyne.domain.urgency import Tier
from heterodyne.endpoint_picker.protocol import FAIRNESS, OBJECTIVES

TIERS: Final = (Tier.BRONZE, Tier.SILVER, Tier.GOLD)
FAIRNESS_ID: Final = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
FAIRNESS_IDS_MAX: Final = 1024  # told apart; later ones share a queue with whoever says nothing


class ProxyCallers:
    """Of requests whose callers a proxy knows: told apart by the fairness id that it gives them. One per worker."""

    def __init__(self) -> None:
        self._by_id: dict[bytes, Caller] = {}

    def of(self, headers: Mapping[bytes, bytes]) -> Caller:
        """Without an id, or with one too many, all of them together."""
        name = _first(headers, FAIRNESS)
        if name is None or not FAIRNESS_ID.fullmatch(name):
            return PROXY
        known = self._by_id.get(name)
        if known is None and len(self._by_id) < FAIRNESS_IDS_MAX:
            project = f"proxy/{name.decode()}"
            known = structs.replace(PROXY, project=ProjectId(project), salt=project.encode())
            self._by_id[name] = known
        return known or PROXY


def with_objective(caller: Caller, headers: Mapping[bytes, bytes], objectives: Mapping[str, int]) -> Caller:
    """At the tier of its objective; a key's own tier is never raised by what a request says of itself."""
    name = _first(headers, OBJECTIVES)
    if name is None:
        return caller
    tier = tier_of(objectives.get(name.decode("latin-1"), 0))
    if caller.key != PROXY.key and TIERS.index(tier) > TIERS.index(caller.tier):
        return caller
    return structs.replace(caller, tier=tier)


def tier_of(priority: int) -> Tier:
    """A request of an objective below 0 is sheddable; of one above it, it is the last to give way."""
    if priority < 0:
        return Tier.BRONZE
    return Tier.GOLD if priority > 0 else Tier.SILVER


def _first(headers: Mapping[bytes, bytes], names: tuple[bytes, ...]) -> bytes | None:
    return next((headers[name] for name in names if name in headers), None)
