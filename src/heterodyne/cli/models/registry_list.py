"""The versions in the registry, one line each."""

from datetime import UTC, datetime

from heterodyne.cli.models.with_catalog import with_catalog
from heterodyne.cli.output import bytes_in_words, print_json, print_table
from heterodyne.config.settings import Settings
from heterodyne.domain.artifact import ModelVersion, StoredArtifact
from heterodyne.registry.catalog.catalog import Catalog


def print_versions(settings: Settings, *, as_json: bool) -> None:
    """Each with its artifacts."""

    async def act(catalog: Catalog) -> tuple[tuple[ModelVersion, ...], tuple[StoredArtifact, ...]]:
        return await catalog.versions(), await catalog.store.artifacts()

    versions, artifacts = with_catalog(settings, act)
    of = {
        version.name: [
            one for one in artifacts if (one.artifact.model, one.artifact.version) == (version.model, version.version)
        ]
        for version in versions
    }
    if as_json:
        print_json([{"version": version, "artifacts": of[version.name]} for version in versions])
        return
    rows = [
        [
            version.name,
            datetime.fromtimestamp(version.created_at, UTC).strftime("%Y-%m-%d %H:%M"),
            version.licence or "-",
            ", ".join(f"{one.artifact.format} {one.artifact.precision}" for one in of[version.name]) or "-",
            bytes_in_words(sum(one.artifact.size_bytes for one in of[version.name])),
            version.source,
        ]
        for version in versions
    ]
    print_table(["VERSION", "IMPORTED (UTC)", "LICENCE", "ARTIFACTS", "SIZE", "SOURCE"], rows)
