"""An artifact is made of another: once, whoever asks, and from where the last attempt was broken off."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from importlib import metadata
from pathlib import Path

from msgspec import Struct, structs

from heterodyne.domain.artifact import (
    ANY_HARDWARE,
    Artifact,
    ArtifactProvenance,
    ModelVersion,
    Recipe,
    StoredArtifact,
    WeightFormat,
)
from heterodyne.domain.errors import SettingsInvalid, UnknownName, WeightsUnavailable
from heterodyne.registry.building.builder import Builder, BuildOrder, OnStep, kind_of
from heterodyne.registry.building.catalogue import builder_for
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.importing import machine
from heterodyne.registry.catalog.intake import listed, take_in
from heterodyne.registry.files import exclusive

BUILD_NAME_SIGNS = 32
ROOM_FACTOR = 1.1  # of the input's size, that a build in its own precision may take


class BuildRequest(Struct, frozen=True, kw_only=True):
    """What is wanted of a version."""

    version: ModelVersion
    format: WeightFormat
    precision: str
    hardware: str = ANY_HARDWARE
    settings: dict[str, str] = {}


async def build_artifact(
    catalog: Catalog,
    request: BuildRequest,
    *,
    on_step: OnStep = lambda done, of: None,
    clock: Callable[[], float] = time.time,
) -> tuple[StoredArtifact, bool]:
    """The artifact, and whether it was made now: one with the same recipe is not made again."""
    version = request.version
    source = await _source(catalog, version)
    builder = builder_for(
        source.artifact.format, request.format, request.precision, request.settings, kind_of(version.facts)
    )
    _check_hardware(builder, request)
    settings = await asyncio.to_thread(builder.recipe_settings, request.settings)
    recipe = Recipe(
        builder=builder.name,
        builder_version=builder.version,
        settings=dict(sorted(settings.items())),
        inputs=(source.artifact.digest,),
    )
    wanted = Artifact(
        model=version.model,
        version=version.version,
        format=request.format,
        precision=request.precision,
        hardware=request.hardware,
        recipe=recipe,
        files=(),
    )
    if (found := await _try_found(catalog, version, wanted)) is not None:
        return found, False
    target = catalog.folder / "builds" / wanted.digest[:BUILD_NAME_SIGNS]
    async with _alone(target):
        # Another may have made it while this one waited.
        if (found := await _try_found(catalog, version, wanted)) is not None:
            return found, False
        began_s = clock()
        order = BuildOrder(
            source=await catalog.local(source),
            target=target,
            model=version.model,
            precision=request.precision,
            hardware=request.hardware,
            settings=request.settings | recipe.settings,
        )
        artifact = await asyncio.to_thread(_build, catalog, wanted, builder, order, on_step)
        provenance = ArtifactProvenance(at=clock(), took_s=clock() - began_s, tools=_tools(builder), machine=machine())
        stored = StoredArtifact(artifact=artifact, provenance=provenance)
        await catalog.store.add_artifact(stored)
        # Only now: a process that ends before this line has its work to go on with, and takes it in again.
        await asyncio.to_thread(shutil.rmtree, target, ignore_errors=True)
        return stored, True


async def _try_found(catalog: Catalog, version: ModelVersion, wanted: Artifact) -> StoredArtifact | None:
    """One of the same recipe."""
    artifacts = await catalog.artifacts(version)
    return next((one for one in artifacts if structs.replace(one.artifact, files=()) == wanted), None)


@asynccontextmanager
async def _alone(target: Path) -> AsyncIterator[None]:
    """No other process or task builds into the folder meanwhile; the system lets go when a process ends in any way."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        lock = exclusive(target.with_name(target.name + ".lock"), lambda: None)
        await asyncio.to_thread(stack.enter_context, lock)
        yield


async def _source(catalog: Catalog, version: ModelVersion) -> StoredArtifact:
    """What it is built from: the canonical form, and that of what was imported."""
    try:
        return await catalog.canonical(version)
    except UnknownName:
        imported = (await catalog.artifacts(version))[:1]
        if not imported:
            raise
        return imported[0]


def _build(catalog: Catalog, wanted: Artifact, builder: Builder, order: BuildOrder, on_step: OnStep) -> Artifact:
    """In a thread."""
    order.target.mkdir(exist_ok=True)
    _check_room(order)
    builder.run(order, on_step)
    paths = [path for path in order.target.rglob("*") if path.is_file()]
    artifact = structs.replace(wanted, files=listed(order.target, paths))
    take_in(catalog.blobs, order.target, artifact.files, is_ours=True)
    return artifact


def _check_hardware(builder: Builder, request: BuildRequest) -> None:
    if builder.is_for_one_chip and request.hardware == ANY_HARDWARE:
        raise SettingsInvalid(f"{request.format} is compiled for one kind of GPU; name it, as in --hardware h100-sxm")
    if not builder.is_for_one_chip and request.hardware != ANY_HARDWARE:
        raise SettingsInvalid(f"{request.format} is the same on all hardware; leave --hardware {request.hardware} out")


def _check_room(order: BuildOrder) -> None:
    """Before hours of work, not after."""
    size = sum(path.stat().st_size for path in order.source.rglob("*") if path.is_file())
    done = sum(path.stat().st_size for path in order.target.rglob("*") if path.is_file())
    # A GGUF of 4 bits becomes SafeTensors of 16; whatever has 16 may be asked for in 32.
    is_widened = any(order.source.glob("*.gguf"))
    needed = size * (4 if is_widened else 1) * (2 if order.precision == "fp32" else 1) * ROOM_FACTOR
    free = shutil.disk_usage(order.target).free
    if free + done < needed:
        raise WeightsUnavailable(
            f"{order.target}: {free / 1e9:.1f} GB are free there, and the build may take {needed / 1e9:.1f} GB"
        )


def _tools(builder: Builder) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ("heterodyne", *builder.tools):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def staging_folders(catalog: Catalog) -> list[Path]:
    """Builds that were broken off, or are under way."""
    return [path for path in (catalog.folder / "builds").glob("*") if path.is_dir()]
