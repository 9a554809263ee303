"""Has the settings read again when the folder of manifests that pools take their endpoints from has changed."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from heterodyne.endpoint_picker.settings import EndpointPickerSettings
from heterodyne.fleet.inference_pools import FolderStamp, folder_stamp

LOOK_S = 2.0


class ManifestWatch:
    """One per supervisor. A folder that cannot be looked at has not changed: the fleet stays as it is."""

    def __init__(self, settings: Callable[[], EndpointPickerSettings], reload: Callable[[], None]) -> None:
        self._settings = settings
        self._reload = reload

    async def run(self) -> None:
        """Until cancelled."""
        folder, stamp = None, None
        while True:
            wanted = self._settings().manifests
            if wanted is not None:
                seen = await asyncio.to_thread(_stamp_of, wanted)
                if seen is not None:
                    if wanted == folder and seen != stamp:
                        self._reload()
                    folder, stamp = wanted, seen
            await asyncio.sleep(LOOK_S)


def _stamp_of(folder: str) -> FolderStamp | None:
    return folder_stamp(Path(folder).expanduser())
