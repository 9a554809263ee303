"""`heterodyne models convert`: one file or folder to another, without the registry."""

from pathlib import Path

import click


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--precision", default="fp16", show_default=True, help="Of the numbers that are written.")
def convert(source: Path, target: Path, precision: str) -> None:
    """Convert SOURCE, a GGUF or a folder in SafeTensors, to TARGET, which is the other.

    \b
    Examples:
      heterodyne models convert model.gguf ./model
      heterodyne models convert ./model model.q4_k_m.gguf --precision q4_k_m
    """
    from heterodyne.cli.models.stepping import stepping

    if target.exists():
        raise click.UsageError(f"{target} is there already; name what is not")
    with stepping(f"writing {target.name}", is_json=False) as on_step:
        if source.suffix == ".gguf":
            from heterodyne.registry.conversion.gguf_safetensors import gguf_to_safetensors

            gguf_to_safetensors(source, target, precision, on_step)
        else:
            from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf

            safetensors_to_gguf(source, target, precision, on_tensor=on_step)
    click.echo(str(target))
