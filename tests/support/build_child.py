"""A process that builds an artifact and stands still at one step, to be killed there.

    python -m tests.support.build_child FOLDER STEP

It prints a line when it has reached the step. A step is `tensor N`, `blob N`, `artifact` (before it is registered) or
`registered` (before the folder of the build is removed).
"""

import asyncio
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from heterodyne.domain.artifact import StoredArtifact, WeightFormat
from heterodyne.registry.catalog.build import BuildRequest, build_artifact
from tests.support.catalogs import opened_catalog

STEPS = ("tensor 1", "tensor 10", "tensor 21", "blob 1", "artifact", "registered")


def stand_still() -> None:
    print("there", flush=True)
    time.sleep(600)


async def main(folder: Path, step: str) -> None:
    kind, _, number = step.partition(" ")
    async with opened_catalog(folder) as catalog:
        put, add = catalog.blobs.put, catalog.store.add_artifact
        puts = 0

        def put_until(*args: Any, **options: Any) -> None:
            nonlocal puts
            put(*args, **options)
            puts += 1
            if kind == "blob" and puts == int(number):
                stand_still()

        async def add_after(stored: StoredArtifact) -> bool:
            if kind == "artifact":
                stand_still()
            return await add(stored)

        def remove(*args: Any, **options: Any) -> None:
            if kind == "registered":
                stand_still()
            removed(*args, **options)

        catalog.blobs.put = put_until  # type: ignore[method-assign]
        catalog.store.add_artifact = add_after  # type: ignore[method-assign]
        removed, shutil.rmtree = shutil.rmtree, remove  # type: ignore[assignment]

        def on_step(done: int, of: int) -> None:
            if kind == "tensor" and done == int(number):
                stand_still()

        request = BuildRequest(version=await catalog.version("tiny"), format=WeightFormat.GGUF, precision="q8_0")
        await build_artifact(catalog, request, on_step=on_step)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
