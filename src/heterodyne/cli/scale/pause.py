"""`heterodyne scale pause` and `resume`: whether the autoscaler of a gateway may change anything."""

import click

from heterodyne.cli.admin_options import admin_options
from heterodyne.cli.output import print_json


def _by_hand(name: str, sentence: str) -> click.Command:
    examples = f"\b\nExamples:\n  heterodyne scale {name}\n  heterodyne scale {name} llama-3.1-8b"

    @click.command(name, help=f"{sentence}\n\n{examples}")
    @click.argument("model", required=False)
    @admin_options
    def act(*, model: str | None, url: str, key_env: str, as_json: bool) -> None:
        import os

        from heterodyne.cli.admin_client import AdminClient

        done = AdminClient(url, os.environ.get(key_env)).change_scaling(name, model)
        if as_json:
            print_json(done)
        else:
            click.echo(f"paused: {', '.join(done.paused)}" if done.paused else "nothing is paused")

    return act


pause = _by_hand(
    "pause", "Have the autoscaler change nothing, of one MODEL or of all; it goes on saying what it would."
)
resume = _by_hand("resume", "Have it go on after a pause.")
