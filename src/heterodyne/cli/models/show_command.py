"""`heterodyne models show`: one version, its artifacts, and where each runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from heterodyne.cli.invocation import Invocation, pass_invocation

if TYPE_CHECKING:
    from heterodyne.domain.artifact import Digest, ModelVersion, StoredArtifact
    from heterodyne.registry.catalog.facts import ArtifactFacts


@click.command()
@click.argument("name", metavar="MODEL[@VERSION]")
@click.option("--hardware", multiple=True, metavar="CHIP", help="Chip to say what is best on; repeat.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@pass_invocation
def show(invocation: Invocation, name: str, hardware: tuple[str, ...], as_json: bool) -> None:
    """Show a version of the registry: where it came from, its artifacts, what runs on which hardware, and which is
    best there.

    \b
    Examples:
      heterodyne models show smollm2-135m
      heterodyne models show smollm2-135m --hardware l4 --hardware mi300x
      heterodyne models show smollm2-135m@v1 --json
    """
    from heterodyne.cli.arguments.catalogue import catalogue
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.cli.output import print_json, print_table
    from heterodyne.physics.catalogue import accelerator
    from heterodyne.registry.catalog.best_on_chip import USUAL_CHIPS
    from heterodyne.registry.catalog.catalog import Catalog
    from heterodyne.registry.catalog.pool_artifacts import pools_by_artifact
    from heterodyne.registry.catalog.version_facts import facts_of

    settings = invocation.settings()

    async def act(
        catalog: Catalog,
    ) -> "tuple[ModelVersion, tuple[StoredArtifact, ...], dict[Digest, tuple[str, ...]]]":
        version = await catalog.version(name)
        return version, await catalog.artifacts(version), await pools_by_artifact(catalog, settings.pools)

    version, artifacts, pools = with_catalog(settings, act)
    known = catalogue()
    chips = [accelerator(chip, known) for chip in hardware or USUAL_CHIPS]
    facts = facts_of(version, artifacts, chips, trusted_keys=settings.registry.trusted_keys, pools=pools)
    if as_json:
        print_json({"version": version, "artifacts": artifacts, "affinity": facts.affinity, "best": facts.best})
        return
    _print_version(version)
    _print_artifacts(facts.summary.artifacts)
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
            for row in facts.affinity
        ],
    )
    click.echo()
    print_table(
        ["CHIP", "BEST", "MS A TOKEN", "WHY"],
        [[one.chip, one.best or "-", f"{one.token_ms:.2f}" if one.best else "-", one.why] for one in facts.best],
    )


def _print_version(version: "ModelVersion") -> None:
    said = {"source": version.source, "licence": version.licence or "-", **version.facts}
    for label, value in said.items():
        click.echo(f"{label.replace('_', ' ')}: {value}")
    click.echo()


def _print_artifacts(artifacts: Sequence["ArtifactFacts"]) -> None:
    from heterodyne.cli.models.load_words import loads_in_words
    from heterodyne.cli.models.parity_words import parity_in_words
    from heterodyne.cli.output import bytes_in_words, print_table
    from heterodyne.domain.artifact import DIGEST_SHOWN

    print_table(
        ["ARTIFACT", "DIGEST", "SIZE", "MADE BY", "PARITY", "SIGNED BY", "LOADED FROM", "BY POOLS"],
        [
            [
                f"{one.format} {one.precision}",
                one.digest[:DIGEST_SHOWN],
                bytes_in_words(one.size_bytes),
                one.builder,
                parity_in_words(one),
                ", ".join(one.signed_by) or "-",
                loads_in_words(one.loads),
                ", ".join(one.pools) or "-",
            ]
            for one in artifacts
        ],
    )
