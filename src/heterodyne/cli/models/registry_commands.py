"""`heterodyne models verify`, `sign`, `export`, `remove` and `gc`: what is done with what the registry has."""

from pathlib import Path

import click

from heterodyne.cli.invocation import Invocation, pass_invocation
from heterodyne.cli.models.format_option import read_format


@click.command()
@click.argument("name", metavar="[MODEL[@VERSION]]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@pass_invocation
def verify(invocation: Invocation, name: str | None, as_json: bool) -> None:
    """Read every byte of the artifacts of a version, or of all, and compare with what was written down.

    Exits with 1 where one is not what it was.

    \b
    Examples:
      heterodyne models verify
      heterodyne models verify smollm2-135m@v1
    """
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.cli.output import print_json, print_table
    from heterodyne.cli.progress import working
    from heterodyne.domain.artifact import DIGEST_SHOWN
    from heterodyne.registry.catalog.catalog import Catalog
    from heterodyne.registry.catalog.facts import Verified
    from heterodyne.registry.catalog.verify import verify as verified

    settings = invocation.settings()

    async def act(catalog: Catalog) -> list[Verified]:
        artifacts = await (
            catalog.store.artifacts() if name is None else catalog.artifacts(await catalog.version(name))
        )
        with working("reading", is_json=as_json):
            return await verified(catalog, artifacts, settings.registry.trusted_keys)

    found = with_catalog(settings, act)
    if as_json:
        print_json(found)
    else:
        rows = [
            [one.digest[:DIGEST_SHOWN], one.name, one.problem or "right", ", ".join(one.signed_by) or "-"]
            for one in found
        ]
        print_table(["DIGEST", "ARTIFACT", "BYTES", "SIGNED BY"], rows)
    if any(one.problem for one in found):
        raise SystemExit(1)


@click.command()
@click.argument("name", metavar="MODEL[@VERSION]", required=False)
@click.option("--key", "key_path", type=click.Path(path_type=Path), required=True, help="Private ed25519 key in PEM.")
@click.option("--new-key", is_flag=True, help="Make the key first, in a file that is not there yet.")
@click.option("--format", "format_", help="Only artifacts of this format.")
@click.option("--precision", help="Only artifacts of this precision.")
@pass_invocation
def sign(
    invocation: Invocation,
    *,
    name: str | None,
    key_path: Path,
    new_key: bool,
    format_: str | None,
    precision: str | None,
) -> None:
    """Vouch for the artifacts of a version with a key of your own.

    A gateway with `registry.signatures_required` serves none that no key of `registry.trusted_keys` vouches for.

    \b
    Examples:
      heterodyne models sign --key release.pem --new-key
      heterodyne models sign smollm2-135m@v1 --key release.pem
    """
    import time

    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.domain.artifact import DIGEST_SHOWN
    from heterodyne.registry import signing
    from heterodyne.registry.catalog.catalog import Catalog

    if new_key:
        signing.new_key(key_path)
    key = signing.read_key(key_path)
    if new_key:
        click.echo(f"public key {signing.public_key(key)}")
    if name is None:
        return

    async def act(catalog: Catalog) -> None:
        for stored in await catalog.artifacts(await catalog.version(name)):
            artifact = stored.artifact
            if format_ in (None, str(artifact.format)) and precision in (None, artifact.precision):
                await catalog.store.sign(artifact.digest, signing.signature_of(key, artifact.digest, time.time()))
                click.echo(f"{artifact.digest[:DIGEST_SHOWN]}  {artifact.name}")

    with_catalog(invocation.settings(), act)


@click.command()
@click.argument("name", metavar="MODEL[@VERSION]")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--format", "format_", required=True, help="Of the artifact: safetensors, gguf.")
@click.option("--precision", help="Of the artifact; absent, the latest of the format.")
@pass_invocation
def export(invocation: Invocation, name: str, folder: Path, format_: str, precision: str | None) -> None:
    """Copy an artifact into a FOLDER, with a file that says what it is and where it came from.

    \b
    Examples:
      heterodyne models export smollm2-135m ./out --format gguf --precision q8_0
    """
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.registry.catalog.catalog import Catalog
    from heterodyne.registry.catalog.export import export as exported
    from heterodyne.registry.signing import check_signed

    format = read_format(format_)
    registry = invocation.settings().registry

    async def act(catalog: Catalog) -> Path:
        stored = await catalog.artifact(await catalog.version(name), format, precision)
        check_signed(stored, registry.trusted_keys, is_required=registry.signatures_required)
        return await exported(catalog, stored, folder)

    click.echo(str(with_catalog(invocation.settings(), act)))


@click.command()
@click.argument("name", metavar="MODEL@VERSION")
@pass_invocation
def remove(invocation: Invocation, name: str) -> None:
    """Forget a version and its artifacts. Their bytes go with the next `heterodyne models gc`.

    A version that a pool of the settings names stays.

    \b
    Examples:
      heterodyne models remove smollm2-135m@v1
    """
    from heterodyne.assembly.pinned import pinned_versions
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.registry.catalog.catalog import Catalog
    from heterodyne.registry.catalog.collect import remove_version

    settings = invocation.settings()

    async def act(catalog: Catalog) -> int:
        return await remove_version(catalog, name, await pinned_versions(settings, catalog))

    click.echo(f"{with_catalog(settings, act)} artifacts removed")


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@pass_invocation
def gc(invocation: Invocation, dry_run: bool, as_json: bool) -> None:
    """Remove bytes that no artifact refers to, and builds that were broken off a week ago.

    \b
    Examples:
      heterodyne models gc --dry-run
    """
    from heterodyne.cli.models.with_catalog import with_catalog
    from heterodyne.cli.output import print_json
    from heterodyne.registry.catalog.collect import collect

    found = with_catalog(invocation.settings(), lambda catalog: collect(catalog, is_dry=dry_run))
    if as_json:
        print_json(found)
        return
    would = "would be removed" if dry_run else "removed"
    click.echo(f"{found.blobs} files, {found.builds} broken builds, {found.served} folders {would}")
