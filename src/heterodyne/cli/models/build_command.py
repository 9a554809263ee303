"""`heterodyne models build`: an artifact of a version, for an engine or a kind of hardware."""

import click

from heterodyne.cli.invocation import Invocation, pass_invocation
from heterodyne.cli.models.format_option import read_format


@click.command()
@click.argument("name", metavar="MODEL[@VERSION]")
@click.option("--format", "format_", required=True, help="What it is written as: safetensors, gguf, tensorrt-llm.")
@click.option("--precision", required=True, help="Of the numbers: fp32, fp16, bf16, int8, q8_0, q4_k_m and others.")
@click.option(
    "--hardware", metavar="CHIP", help="The accelerator that it is compiled for, as `heterodyne hardware list` has it."
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the builder; repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the artifact as JSON.")
@pass_invocation
def build(
    invocation: Invocation,
    *,
    name: str,
    format_: str,
    precision: str,
    hardware: str | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make an artifact of a version in the registry, unless there is one of the same recipe.

    A build that is broken off goes on where it was when it is asked for again. The same version and recipe give the
    same bytes.

    \b
    Examples:
      heterodyne models build smollm2-135m --format gguf --precision q8_0
      heterodyne models build smollm2-135m@v1 --format safetensors --precision bf16
      heterodyne models build smollm2-135m --format safetensors --precision int8 --set calibration=texts
      heterodyne models build smollm2-135m --format safetensors --precision fp16 --set adapter=./my-lora
      heterodyne models build llama-3-8b --format tensorrt-llm --precision fp8 --hardware h100-sxm
    """
    from heterodyne.cli.models.stepping import stepping
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.cli.output import bytes_in_words, print_json
    from heterodyne.domain.artifact import ANY_HARDWARE, DIGEST_SHOWN, StoredArtifact
    from heterodyne.physics.catalogue import accelerator
    from heterodyne.registry.catalog.build import BuildRequest, build_artifact
    from heterodyne.registry.catalog.catalog import Catalog

    format, given = read_format(format_), _read_settings(settings)
    chip = ANY_HARDWARE if hardware is None else accelerator(hardware).name

    async def act(catalog: Catalog) -> tuple[StoredArtifact, bool]:
        version = await catalog.version(name)
        request = BuildRequest(version=version, format=format, precision=precision, hardware=chip, settings=given)
        with stepping(f"building {version.name}", is_json=as_json) as on_step:
            return await build_artifact(catalog, request, on_step=on_step)

    stored, is_new = with_catalog(invocation.settings(), act)
    if as_json:
        print_json(stored)
        return
    artifact = stored.artifact
    made = f"made in {stored.provenance.took_s:.1f} s" if is_new else "was there"
    click.echo(f"{artifact.name}  {artifact.digest[:DIGEST_SHOWN]}  {bytes_in_words(artifact.size_bytes)}  {made}")


def _read_settings(texts: tuple[str, ...]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for text in texts:
        name, is_set, value = text.partition("=")
        if not name or not is_set:
            raise click.BadParameter(f'"{text}" is not NAME=VALUE', param_hint="--set")
        if name in settings:
            raise click.BadParameter(f'"{name}" is set twice', param_hint="--set")
        settings[name] = value
    return settings
