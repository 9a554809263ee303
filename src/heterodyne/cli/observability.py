"""`heterodyne observability`: rules for Prometheus and dashboards for Grafana, made from what this version exports."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heterodyne.cli.invocation import Invocation, pass_invocation

if TYPE_CHECKING:
    from heterodyne.alerts.settings import AlertSettings

RULES_FILE = "heterodyne.rules.yml"
NOTICE = "# Written by `heterodyne observability rules`; change the catalogue of alerts or the settings instead.\n"

_to_folder = click.option(
    "--write",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write into this folder instead of printing.",
)


@click.group()
def observability() -> None:
    """Write rules for Prometheus and dashboards for Grafana.

    \b
    Examples:
      heterodyne observability rules --write /etc/prometheus/rules
      heterodyne observability dashboards --write /var/lib/grafana/dashboards
    """


@observability.command()
@_to_folder
@pass_invocation
def rules(invocation: Invocation, folder: Path | None) -> None:
    """Recording rules and alerts for Prometheus, with the thresholds of the settings.

    \b
    Examples:
      heterodyne observability rules
      heterodyne --set alerts.slo_target=0.999 observability rules --write /etc/prometheus/rules
    """
    text = rules_text(invocation.settings().alerts)
    if folder is None:
        click.echo(text, nl=False)
    else:
        _write(folder, {RULES_FILE: text})


@observability.command()
@_to_folder
def dashboards(folder: Path | None) -> None:
    """Dashboards for Grafana: an overview, and one that has every metric; without --write, their names.

    \b
    Examples:
      heterodyne observability dashboards
      heterodyne observability dashboards --write /var/lib/grafana/dashboards
    """
    if folder is None:
        for name in dashboard_texts():
            click.echo(name)
    else:
        _write(folder, dashboard_texts())


def rules_text(settings: "AlertSettings") -> str:
    """The rules file."""
    from heterodyne.alerts.rules import rules_file
    from heterodyne.planning.yaml_text import yaml_text

    return NOTICE + yaml_text(rules_file(settings))


def dashboard_texts() -> dict[str, str]:
    """Every dashboard by the name of its file."""
    from heterodyne.telemetry.dashboards import DASHBOARDS
    from heterodyne.telemetry.dashboards.grafana import rendered

    return {name: rendered(dashboard()) for name, dashboard in DASHBOARDS.items()}


def _write(folder: Path, texts: dict[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
            click.echo(folder / name)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written to: {error.strerror}") from error
