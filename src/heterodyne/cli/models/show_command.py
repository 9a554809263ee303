"""`heterodyne models show`: one version, its artifacts, and where each runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from heterodyne.cli.invocation import Invocation, pass_invocation

if TYPE_CHECKING:
    from heterodyne.domain.artifact import ModelVersion, StoredArtifact


@click.command()
@click.argument("name", metavar="MODEL[@VERSION]")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@pass_invocation
def show(invocation: Invocation, name: str, as_json: bool) -> None:
    """Show a version of the registry: where it came from, its artifacts, and what runs on which hardware.

    \b
    Examples:
      heterodyne models show smollm2-135m
      heterodyne models show smollm2-135m@v1 --json
    """
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.cli.output import print_json, print_table
    from heterodyne.registry.building.builder import kind_of
    from heterodyne.registry.catalog.affinity import affinity_of
    from heterodyne.registry.catalog.catalog import Catalog

    settings = invocation.settings()

    async def act(catalog: Catalog) -> "tuple[ModelVersion, tuple[StoredArtifact, ...]]":
        version = await catalog.version(name)
        return version, await catalog.artifacts(version)

    version, artifacts = with_catalog(settings, act)
    rows = affinity_of(artifacts, kind_of(version.facts))
    if as_json:
        print_json({"version": version, "artifacts": artifacts, "affinity": rows})
        return
    _print_version(version)
    _print_artifacts(artifacts, settings.registry.trusted_keys)
    click.echo()
    print_table(
        ["HARDWARE", "FORMAT", "ENGINES", "THERE", "CAN BE BUILT"],
        [
            [
                row.hardware,
                str(row.format),
                ", ".join(row.engines),
                ", ".join(row.there) or "-",
                ", ".join(row.buildable) or "-",
            ]
            for row in rows
        ],
    )


def _print_version(version: "ModelVersion") -> None:
    said = {"source": version.source, "licence": version.licence or "-", **version.facts}
    for label, value in said.items():
        click.echo(f"{label.replace('_', ' ')}: {value}")
    click.echo()


def _print_artifacts(artifacts: Sequence["StoredArtifact"], trusted_keys: Sequence[str]) -> None:
    from heterodyne.cli.models.load_words import loads_in_words
    from heterodyne.cli.models.parity_words import parity_in_words
    from heterodyne.cli.output import bytes_in_words, print_table
    from heterodyne.domain.artifact import DIGEST_SHOWN
    from heterodyne.registry.signing import trusted_signers

    print_table(
        ["ARTIFACT", "DIGEST", "SIZE", "MADE BY", "PARITY", "SIGNED BY", "LOADED FROM"],
        [
            [
                f"{one.artifact.format} {one.artifact.precision}",
                one.artifact.digest[:DIGEST_SHOWN],
                bytes_in_words(one.artifact.size_bytes),
                one.artifact.recipe.builder,
                parity_in_words(one),
                ", ".join(trusted_signers(one, trusted_keys)) or "-",
                loads_in_words(one),
            ]
            for one in artifacts
        ],
    )
