"""Keeps answers before their clients hear of them."""

from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.forms.kept import KeptAnswer, KeptObject
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.running import is_running
from heterodyne.gateway.stored.work import StoredWorks
from heterodyne.telemetry import log

ITEM: Final = "item"

WhenKept = Callable[[bool], None]

_log = log.get("gateway")


class NamedObject(Struct):
    """Of JSON, its id."""

    id: str


_decode_named = msgspec.json.Decoder(NamedObject).decode


class Keeper:
    """One per worker."""

    def __init__(self, documents: Documents, works: StoredWorks) -> None:
        self._documents = documents
        self._works = works

    def keep(self, answer: KeptAnswer, caller: Caller, then: WhenKept) -> None:
        """Keep it, and say whether that was done; an answer that cannot be kept is still an answer."""

        def lost(error: HeterodyneError) -> None:
            _log.warning("answer_not_kept", project=caller.project, reason=error.message)
            then(False)

        def kept(_: None) -> None:
            then(True)

        try:
            self._works.start(partial(self._keep, answer, caller.project), kept, lost)
        except HeterodyneError as error:  # too many wait already
            lost(error)

    async def _keep(self, answer: KeptAnswer, project: str) -> None:
        one, documents = answer.kept(), self._documents
        if one.is_begun and not await self._complete(project, one):
            return
        if one.conversation:
            items = [(item_id(item), item) for item in one.items]
            await documents.append(project, one.conversation, ITEM, items)
        if not one.is_begun:
            await documents.add(project, kind=one.kind, id=one.id, body=one.body, parent=one.parent)

    async def _complete(self, project: str, one: KeptObject) -> bool:
        """Whether it took the place of what was begun; False: that was cancelled, or deleted."""
        found = await self._documents.try_get(project, one.kind, one.id)
        if found is None or not is_running(found):
            return False
        return await self._documents.replace(found, one.body)


def item_id(item: bytes) -> str:
    """Of one that has an id."""
    return _decode_named(item).id
