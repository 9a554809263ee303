"""The `heterodyne` command: its global flags, and subcommands that are imported when they are asked for."""

import gc
import importlib
import os
import sys
from pathlib import Path

import click

from heterodyne import __version__
from heterodyne.cli.invocation import Invocation, parse_overrides
from heterodyne.domain.errors import HeterodyneError, InvalidSpec, SettingsInvalid, UnknownName

COMMANDS: dict[str, tuple[str, str]] = {  # name: module that holds a command of that name, one line about it
    "serve": ("heterodyne.cli.serve", "Serve the configured models over the OpenAI API."),
    "chat": ("heterodyne.cli.chat.command", "Ask a model something, or hold a conversation."),
    "batch": ("heterodyne.cli.batch.command", "Have a file of requests answered when there is room for them."),
    "models": ("heterodyne.cli.models.command", "List the configured models and fetch their weights."),
    "parity": ("heterodyne.cli.parity.command", "Judge the builds of a model by what they were built from."),
    "rollout": ("heterodyne.cli.rollout.command", "Move a model to other pools, step by step, on evidence."),
    "fleet": ("heterodyne.cli.fleet.command", "See the fleet of a running gateway and change it while it serves."),
    "tenants": (
        "heterodyne.cli.tenants.command",
        "Organisations and projects: who may ask, how much, with what share.",
    ),
    "keys": ("heterodyne.cli.keys.command", "Issue, rotate and revoke the keys of projects."),
    "usage": ("heterodyne.cli.usage.command", "Say who used what, when, where and at what price."),
    "cascade": ("heterodyne.cli.cascade", "Learn when a cheap model's answer will do, within a bound."),
    "cache": ("heterodyne.cli.cache", "See what caches of a running gateway give again, save and get wrong."),
    "kv": ("heterodyne.cli.kv", "See where KV is held, how it moves between pools, and what that saves."),
    "guards": ("heterodyne.cli.guards", "Find personal data, secrets and prompt injection in a text."),
    "abuse": ("heterodyne.cli.abuse", "See which keys were found to be abused, and lift what is held against them."),
    "audit": ("heterodyne.cli.audit.command", "Verify the audit log, look into it, anchor it."),
    "observability": ("heterodyne.cli.observability", "Write rules for Prometheus and dashboards for Grafana."),
    "explain": ("heterodyne.cli.explain.command", "Say where a request would go and why, or where one went."),
    "config": ("heterodyne.cli.config", "Write, check and show the settings."),
    "doctor": ("heterodyne.cli.doctor.command", "Say what is here and what keeps this machine from serving."),
    "hardware": ("heterodyne.cli.hardware", "List the accelerators we know and where each number was read."),
    "plan": ("heterodyne.cli.plan.command", "Answer what fits where, before any hardware is bought."),
    "calibrate": ("heterodyne.cli.calibrate.command", "Measure a live replica, so that plans know how fast it is."),
    "simulate": ("heterodyne.cli.simulate", "Say how a fleet would serve a trace, under any policy."),
    "scale": ("heterodyne.cli.scale.command", "Say what the autoscaler would do with a fleet, and why."),
    "emulate": ("heterodyne.cli.emulate", "Answer as an engine on hardware that is not here."),
    "jax": ("heterodyne.cli.jax_engine", "Serve a model by JAX, in vLLM's words, where no faster engine is."),
    "bench": ("heterodyne.cli.bench", "Measure a gateway under load."),
}
# What commands import is no garbage, and looking through it again and again takes an eighth of the time of a short one.
OBJECTS_BEFORE_A_LOOK = 50_000
FAILED = 1
MISUSED = 2  # click's code for bad usage; bad settings are the same kind of mistake
INTERRUPTED = 130  # what a shell expects after Ctrl-C
UNHEARD = 141  # and after a broken pipe, as `head` leaves one


class LazyGroup(click.Group):
    """Imports a subcommand only to run it, and turns errors with a name into a line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(COMMANDS[cmd_name][0]), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, sentence) for name, (_, sentence) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            returned = super().invoke(ctx)
            sys.stdout.flush()  # what is left must be written here, where its errors are still caught
        except HeterodyneError as error:
            for line in _error_lines(error):
                click.echo(line, err=True)
            ctx.exit(_exit_code(error))
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _hush()
            ctx.exit(UNHEARD)
        except OSError as error:
            click.echo(f"heterodyne: {error.filename or 'output'}: {error.strerror or error}", err=True)
            ctx.exit(FAILED)
        return returned


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="heterodyne")
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Settings file; else $HETERODYNE_CONFIG, ./heterodyne.toml, ~/.config/heterodyne/heterodyne.toml.",
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set one setting, for example gateway.port=9000; may be repeated.",
)
@click.option("--no-color", is_flag=True, help="Print without colours, as in a pipe or with NO_COLOR set.")
@click.pass_context
def cli(ctx: click.Context, config_path: Path | None, overrides: tuple[str, ...], no_color: bool) -> None:
    """One OpenAI-compatible front door over every accelerator you own.

    \b
    Examples:
      heterodyne serve
      heterodyne chat "What is a superheterodyne receiver?"
      heterodyne --set gateway.port=9000 serve
      heterodyne --config /etc/heterodyne.toml config check
    """
    if no_color or os.environ.get("NO_COLOR"):
        ctx.color = False
    ctx.obj = Invocation(config_path=config_path, overrides=parse_overrides(overrides))


def _error_lines(error: HeterodyneError) -> list[str]:
    """The error on stderr: one line, or a count and one line per problem for settings with several."""
    message_lines = error.message.splitlines() or [error.code]
    if len(message_lines) == 1:
        return [f"heterodyne: {message_lines[0]}"]
    if isinstance(error, SettingsInvalid):
        return [f"heterodyne: {len(message_lines)} problems in the settings:", *_indented(message_lines)]
    return [f"heterodyne: {message_lines[0]}", *_indented(message_lines[1:])]


def _exit_code(error: HeterodyneError) -> int:
    """2 for a mistake on the command line or in the settings, else 1."""
    return MISUSED if isinstance(error, SettingsInvalid | UnknownName | InvalidSpec) else FAILED


def _indented(some_lines: list[str]) -> list[str]:
    return [f"  {line}" for line in some_lines]


def _hush() -> None:
    """What is still to be written goes nowhere; else Python complains of it once more at its end."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.__stdout__.fileno() if sys.__stdout__ is not None else 1)


def main() -> None:
    """The entry point of the installed script."""
    gc.set_threshold(OBJECTS_BEFORE_A_LOOK)
    cli(prog_name="heterodyne")
