"""`heterodyne models build`: an artifact of a version, for an engine or a kind of hardware."""

import click

from heterodyne.cli.invocation import Invocation, pass_invocation
from heterodyne.cli.models.format_option import read_format


@click.command()
@click.argument("name", metavar="MODEL[@VERSION]")
@click.option("--format", "format_", required=True, help="What it is written as: safetensors, gguf.")
@click.option("--precision", required=True, help="Of the numbers: fp32, fp16, bf16, q8_0, q4_k_m and others.")
@click.option("--json", "as_json", is_flag=True, help="Print the artifact as JSON.")
@pass_invocation
def build(invocation: Invocation, name: str, format_: str, precision: str, as_json: bool) -> None:
    """Make an artifact of a version in the registry, unless there is one of the same recipe.

    A build that is broken off goes on where it was when it is asked for again. The same version and recipe give the
    same bytes.

    \b
    Examples:
      heterodyne models build smollm2-135m --format gguf --precision q8_0
      heterodyne models build smollm2-135m@v1 --format safetensors --precision bf16
    """
    from heterodyne.cli.models.stepping import stepping
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.cli.output import bytes_in_words, print_json
    from heterodyne.domain.artifact import DIGEST_SHOWN, StoredArtifact
    from heterodyne.registry.catalog.build import BuildRequest, build_artifact
    from heterodyne.registry.catalog.catalog import Catalog

    format = read_format(format_)

    async def act(catalog: Catalog) -> tuple[StoredArtifact, bool]:
        version = await catalog.version(name)
        request = BuildRequest(version=version, format=format, precision=precision)
        with stepping(f"building {version.name}", is_json=as_json) as on_step:
            return await build_artifact(catalog, request, on_step=on_step)

    stored, is_new = with_catalog(invocation.settings(), act)
    if as_json:
        print_json(stored)
        return
    artifact = stored.artifact
    made = f"made in {stored.provenance.took_s:.1f} s" if is_new else "was there"
    click.echo(f"{artifact.name}  {artifact.digest[:DIGEST_SHOWN]}  {bytes_in_words(artifact.size_bytes)}  {made}")
