"""Rollouts in either database."""

from abc import ABC, abstractmethod
from typing import TypeVar

from heterodyne.ports.rollout_store import StoredRollout
from heterodyne.stores.sql.rollouts import scripts
from heterodyne.stores.sql.script import Script

T = TypeVar("T")


class SqlRollouts(ABC):
    """Everything but how a script is run."""

    @abstractmethod
    async def _read(self, script: Script[T]) -> T:
        """Of one moment."""

    @abstractmethod
    async def _write(self, script: Script[T]) -> T:
        """In one transaction, which a script that raises leaves undone."""

    async def rollouts(self) -> tuple[StoredRollout, ...]:
        return await self._read(scripts.read_rollouts())

    async def history(self, model: str, most: int) -> tuple[StoredRollout, ...]:
        return await self._read(scripts.read_history(model, most))

    async def begin(self, rollout: StoredRollout) -> bool:
        return await self._write(scripts.begin(rollout))

    async def save(self, rollout: StoredRollout) -> bool:
        return await self._write(scripts.save(rollout))
