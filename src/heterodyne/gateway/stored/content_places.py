"""Where what clients may ask for again rests, and whose words may not."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from heterodyne.admission.scopes import allowed_regions
from heterodyne.domain.errors import NotAllowed
from heterodyne.domain.residency import may_rest
from heterodyne.domain.tenant import Caller

STORE: Final = "store"


class ContentPlaces(Struct, frozen=True, kw_only=True):
    """Those of one gateway, by their regions; a place without any is where the gateway is."""

    documents: tuple[str, ...] = ()  # responses, conversations, completions, and what there is to know of files
    files: tuple[str, ...] = ()  # their bytes, and those of batches

    def check_documents(self, caller: Caller, param: str | None = None) -> None:
        """Raise NotAllowed for a caller whose words may not rest there."""
        _check(caller, self.documents, "stores.regions", param)

    def check_files(self, caller: Caller) -> None:
        """The same of a file, whose name is in the database."""
        self.check_documents(caller)
        _check(caller, self.files, "gateway.files_regions", None)


def _check(caller: Caller, regions: Sequence[str], setting: str, param: str | None) -> None:
    allowed = allowed_regions(caller) if caller.scopes and regions else None
    if not may_rest(allowed, regions):
        raise NotAllowed(
            f"This key is held to {', '.join(sorted(allowed or ())) or 'no region'}, and what this gateway keeps rests "
            f"in {', '.join(regions)} ({setting}){'; send store: false' if param == STORE else ''}.",
            param=param,
        )
