"""The versions in the registry, one line each."""

from datetime import UTC, datetime

from heterodyne.cli.models.with_catalog import with_catalog
from heterodyne.cli.output import bytes_in_words, print_json, print_table
from heterodyne.config.settings import Settings
from heterodyne.domain.artifact import ModelVersion, StoredArtifact
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.version_facts import summaries


def print_versions(settings: Settings, *, as_json: bool) -> None:
    """Each with its artifacts."""

    async def act(catalog: Catalog) -> tuple[tuple[ModelVersion, ...], tuple[StoredArtifact, ...]]:
        return await catalog.versions(), await catalog.store.artifacts()

    versions, artifacts = with_catalog(settings, act)
    if as_json:
        of: dict[str, list[StoredArtifact]] = {version.name: [] for version in versions}
        for stored in artifacts:
            of[f"{stored.artifact.model}@{stored.artifact.version}"].append(stored)
        print_json([{"version": version, "artifacts": of[version.name]} for version in versions])
        return
    rows = [
        [
            version.name,
            datetime.fromtimestamp(version.created_at, UTC).strftime("%Y-%m-%d %H:%M"),
            version.licence or "-",
            ", ".join(f"{one.format} {one.precision}" for one in version.artifacts) or "-",
            bytes_in_words(version.size_bytes),
            version.source,
        ]
        for version in summaries(versions, artifacts)
    ]
    print_table(["VERSION", "IMPORTED (UTC)", "LICENCE", "ARTIFACTS", "SIZE", "SOURCE"], rows)
