"""Keeps a copy of a collection: lists it, follows its changes, and begins anew where those are forgotten.

What was seen last stays while the API is away.
"""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Generic

import msgspec

from heterodyne.fleet.kubernetes.api import Choice, KubernetesApi
from heterodyne.fleet.kubernetes.errors import ApiError, ApiExpired, ApiRefused
from heterodyne.fleet.kubernetes.kind import Object, ObjectKind

PAUSE_FIRST_S = 0.5
PAUSE_MAX_S = 30.0
WATCH_S = 60.0  # a watch is ended after so long and the next goes on from there: that far apart the API is heard
OBJECTS_MAX = 10_000  # a list of more is refused


class Reflector(Generic[Object]):
    """One per collection; belongs to one event loop."""

    def __init__(
        self,
        api: KubernetesApi,
        kind: ObjectKind[Object],
        namespace: str,
        chosen: Choice,
        *,
        resync_s: float,
        on_change: Callable[[], None],
    ) -> None:
        """It is listed anew after `resync_s`, in case a change was lost on its way."""
        self._api = api
        self._kind = kind
        self._namespace = namespace
        self._chosen = chosen
        self._resync_s = resync_s
        self._on_change = on_change
        self._objects: dict[str, Object] = {}
        self._version = ""  # of the collection, as last told; empty: list
        self._pause_s = PAUSE_FIRST_S
        self.heard_at: float | None = None  # seconds since the epoch, when it was last known to be so; None: never
        self.error: ApiError | None = None  # why it may be otherwise by now

    @property
    def objects(self) -> tuple[Object, ...]:
        """As they were seen last."""
        return tuple(self._objects.values())

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self._follow()
            except ApiExpired:
                self._version = ""
            except ApiError as error:
                self.error = error
                self._on_change()
                # At once from every gateway is how an API server that has just come back goes away again.
                await asyncio.sleep(self._pause_s * random.uniform(0.5, 1.0))  # noqa: S311
                self._pause_s = min(2 * self._pause_s, PAUSE_MAX_S)

    async def _follow(self) -> None:
        """List, then watch until the next resync is due."""
        loop = asyncio.get_running_loop()
        resync_at_s = loop.time() + self._resync_s
        if not self._version:
            await self._list()
        while (left_s := resync_at_s - loop.time()) > 0:
            await self._watch(max(1, round(min(WATCH_S, left_s))))
            self._heard()
        self._version = ""

    async def _list(self) -> None:
        page = await self._api.list(self._kind, self._namespace, self._chosen)
        found = [self._decoded(one) for one in page.objects]
        self._objects = {one.metadata.name: one for one in found}
        self._version = page.resource_version
        self._heard()
        self._on_change()

    async def _watch(self, seconds: int) -> None:
        events = self._api.watch(self._kind, self._namespace, self._chosen, self._version, seconds=seconds)
        async with aclosing(events):
            async for event in events:
                found = self._decoded(event.object)
                self._version = found.metadata.resource_version
                self._heard()
                if event.type == "BOOKMARK":
                    continue
                if event.type == "DELETED":
                    self._objects.pop(found.metadata.name, None)
                elif found.metadata.name in self._objects or len(self._objects) < OBJECTS_MAX:
                    self._objects[found.metadata.name] = found
                self._on_change()

    def _decoded(self, data: msgspec.Raw) -> Object:
        try:
            return msgspec.json.decode(data, type=self._kind.type)
        except msgspec.DecodeError as error:
            raise ApiRefused(f"list {self._kind.path(self._namespace)}: not as the API has it: {error}") from error

    def _heard(self) -> None:
        """The API answers: what is here is as it is there."""
        self.heard_at = time.time()
        if self.error is not None:
            self.error = None
            self._pause_s = PAUSE_FIRST_S
            self._on_change()
