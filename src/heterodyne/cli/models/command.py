"""`heterodyne models`: which models are configured, and fetching their weights before they are needed."""

from typing import TYPE_CHECKING

import click

from heterodyne.cli.invocation import Invocation, pass_invocation
from heterodyne.cli.models.build_command import build
from heterodyne.cli.models.convert_command import convert
from heterodyne.cli.models.import_command import import_model
from heterodyne.cli.models.registry_commands import export, gc, remove, sign, verify
from heterodyne.cli.models.show_command import show

if TYPE_CHECKING:
    from heterodyne.config.settings import Settings


@click.group()
def models() -> None:
    """List the configured models, fetch their weights, and keep the registry of versions and artifacts.

    \b
    Examples:
      heterodyne models list
      heterodyne models pull
      heterodyne models import file:./model.gguf --name my-model
    """


for _command in (build, convert, export, gc, import_model, remove, show, sign, verify):
    models.add_command(_command)


@models.command("list")
@click.option("--registry", is_flag=True, help="List the versions in the registry instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the models as JSON.")
@pass_invocation
def list_models(invocation: Invocation, registry: bool, as_json: bool) -> None:
    """List the configured models: pool, engine, where from, and whether the weights are here.

    Other names of a model and who answers in its place are shown where some model has any.

    \b
    Examples:
      heterodyne models list
      heterodyne models list --json
      heterodyne models list --registry
    """
    from heterodyne.cli.models.configured_models import configured_models
    from heterodyne.cli.models.registry_list import print_versions
    from heterodyne.cli.output import bytes_in_words, print_json, print_table

    if registry:
        print_versions(invocation.settings(), as_json=as_json)
        return
    found = configured_models(invocation.settings())
    if as_json:
        print_json(found)
        return
    columns = {
        "MODEL": [one.model for one in found],
        "POOL": [one.pool for one in found],
        "ENGINE": [one.engine for one in found],
        "ALIASES": [", ".join(one.aliases) for one in found],
        "FALLBACKS": [", ".join(one.fallbacks) for one in found],
        "CACHED": [one.cached_in_words for one in found],
        "SIZE": ["" if one.size_bytes is None else bytes_in_words(one.size_bytes) for one in found],
        "SOURCE": [", ".join(one.source) for one in found],
    }
    shown = [header for header, cells in columns.items() if any(cells) or header not in ("ALIASES", "FALLBACKS")]
    print_table(shown, [[columns[header][row] or "-" for header in shown] for row in range(len(found))])


@models.command()
@click.argument("name", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print the paths as JSON.")
@pass_invocation
def pull(invocation: Invocation, name: tuple[str, ...], as_json: bool) -> None:
    """Fetch the weights of the models with this NAME, model, alias or pool, or of all that are started here.

    \b
    Examples:
      heterodyne models pull
      heterodyne models pull smollm2-135m
      heterodyne models pull chat embeddings --json
    """
    from heterodyne.assembly.pool_weights import pool_weights
    from heterodyne.cli.download_bar import download_bar
    from heterodyne.cli.output import print_json

    settings = invocation.settings()
    with download_bar() as progress:
        found = pool_weights(settings, progress, _pools_named(settings, name))
    pulled = [{"model": settings.pools[pool].model, "pool": pool, "path": str(path)} for pool, path in found.items()]
    if as_json:
        print_json(pulled)
        return
    for one in pulled:
        click.echo(one["path"])


def _pools_named(settings: "Settings", names: tuple[str, ...]) -> list[str]:
    """The pools to fetch for: those named, by pool or model; all with weights when none is."""
    with_weights = [name for name, pool in settings.pools.items() if pool.weights is not None]
    if not names:
        return with_weights
    aliases = {alias: model for model, rule in settings.models.items() for alias in rule.aliases}
    chosen: list[str] = []
    for name in names:
        meant = {name, aliases.get(name, name)}
        matching = [pool for pool, one in settings.pools.items() if meant & {pool, one.model}]
        if not matching:
            raise click.UsageError(_unknown(name, settings))
        if not any(pool in with_weights for pool in matching):
            raise click.UsageError(f'"{name}" runs elsewhere, by URL; there are no weights to fetch')
        chosen += [pool for pool in matching if pool in with_weights]
    return list(dict.fromkeys(chosen))


def _unknown(name: str, settings: "Settings") -> str:
    from heterodyne.config.suggestions import nearest

    near = nearest(name, [*(pool.model for pool in settings.pools.values()), *settings.pools])
    hint = f'did you mean "{near}"?' if near else "`heterodyne models list` shows those there are"
    return f'no model or pool "{name}"; {hint}'
