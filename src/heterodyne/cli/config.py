"""`heterodyne config`: write a settings file, check the settings, show what holds and why."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heterodyne.cli.invocation import Invocation, pass_invocation
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from heterodyne.config.settings import Settings


@click.group()
def config() -> None:
    """Write, check and show the settings.

    \b
    Examples:
      heterodyne config init
      heterodyne config check
      heterodyne config show --json
    """


@config.command()
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), default=Path("heterodyne.toml"))
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def init(path: Path, force: bool) -> None:
    """Write a settings file with every setting explained; PATH is ./heterodyne.toml unless given.

    \b
    Examples:
      heterodyne config init
      heterodyne config init ~/.config/heterodyne/heterodyne.toml
      heterodyne config init --force /etc/heterodyne.toml
    """
    from heterodyne.config.template import template

    if path.exists() and not force:
        raise click.ClickException(f"{path} is there already; --force writes over it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(template(), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error
    click.echo(f"wrote {path}; `heterodyne config check` reads it back", err=True)
    click.echo(path)


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print the verdict and every problem as JSON.")
@pass_invocation
@click.pass_context
def check(ctx: click.Context, invocation: Invocation, as_json: bool) -> None:
    """Check the settings and list every problem; exit 2 when there is one.

    \b
    Examples:
      heterodyne config check
      heterodyne --config /etc/heterodyne.toml config check --json
    """
    from heterodyne.cli.output import print_json
    from heterodyne.config.problems import SettingsProblems

    if not as_json:
        resolved = invocation.resolve()
        click.echo(f"{resolved.file or 'no settings file'}: {_counted(resolved.settings)}, no problems")
        return
    try:
        file = invocation.resolve().file
    except SettingsProblems as error:
        problems = [{"path": problem.path, "message": problem.message} for problem in error.problems]
        print_json({"valid": False, "problems": problems})
        ctx.exit(2)
    print_json({"valid": True, "file": None if file is None else str(file), "problems": []})


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print paths, values and origins as JSON.")
@pass_invocation
def show(invocation: Invocation, as_json: bool) -> None:
    """Show every setting that holds and where it came from: default, file, env or flag.

    \b
    Examples:
      heterodyne config show
      HETERODYNE_GATEWAY__PORT=9000 heterodyne config show
      heterodyne config show --json
    """
    from heterodyne.cli.output import print_json, print_table
    from heterodyne.config.effective import effective

    resolved = invocation.resolve()
    rows = effective(resolved)
    if as_json:
        file = None if resolved.file is None else str(resolved.file)
        print_json({"file": file, "settings": {row.path: {"value": row.value, "from": row.origin} for row in rows}})
        return
    click.echo(f"file: {resolved.file or 'none'}", err=True)
    print_table(("SETTING", "VALUE", "FROM"), [(row.path, row.text, row.origin) for row in rows])


def _counted(settings: "Settings") -> str:
    models = {pool.model for pool in settings.pools.values()}
    return f"{counted(len(settings.pools), 'pool')}, {counted(len(models), 'model')}"
