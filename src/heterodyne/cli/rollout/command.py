"""`heterodyne rollout`: move a model to other pools, step by step, and see what each step rests on."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heterodyne.cli.admin_options import admin_options
from heterodyne.cli.rollout.replay_command import replay

if TYPE_CHECKING:
    from heterodyne.cli.admin_client import AdminClient

WAIT_S = 2.0  # between two looks


@click.group()
def rollout() -> None:
    """Move a model to other pools, step by step, on evidence.

    The candidate is a pool of the same model: other weights, another engine or other hardware. It gets users only after
    it has answered and its build has passed; then a growing share of conversations, each of which stays with it.
    Surely worse in errors, times or answers, it is taken back by itself.

    \b
    Examples:
      heterodyne rollout start chat --candidate chat-v2
      heterodyne rollout status
      heterodyne rollout abort chat
    """


@rollout.command()
@click.argument("model")
@click.option("--candidate", "candidate", multiple=True, required=True, metavar="POOL", help="Pool to move to; repeat.")
@click.option("--shadow", type=int, default=0, metavar="COPIES", help="Copies of requests to compare before any user.")
@click.option(
    "--golden",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='Questions with known answers: lines of JSON, {"prompt": "2+2?", "expects": ["4", "four"]}.',
)
@click.option("--golden-right", type=float, default=1.0, metavar="SHARE", help="Of them, to be right; all by default.")
@click.option(
    "--control/--no-control",
    default=True,
    help="Whether replicas of the baseline are set apart to compare times at the same load; it needs four and more.",
)
@admin_options
def start(
    *,
    model: str,
    candidate: tuple[str, ...],
    shadow: int,
    golden: Path | None,
    golden_right: float,
    control: bool,
    url: str,
    key_env: str,
    as_json: bool,
) -> None:
    """Begin to move a MODEL to some of its pools; all its others are the baseline.

    With --golden it has to get questions right first. With --shadow, copies of users' requests are asked of both sides
    then, and nobody gets the answers.

    \b
    Examples:
      heterodyne rollout start chat --candidate chat-v2
      heterodyne rollout start chat --candidate chat-v2 --shadow 200
      heterodyne rollout start chat --candidate chat-v2-a --candidate chat-v2-b
    """
    from heterodyne.cli.rollout.golden_file import read_golden
    from heterodyne.cli.rollout.rollout_table import print_rollout
    from heterodyne.console.rollouts.forms import RolloutStart

    wanted = RolloutStart(
        model=model,
        candidate=candidate,
        shadow=shadow,
        golden=None if golden is None else read_golden(golden, golden_right),
        control=control,
    )
    begun = _client(url, key_env).change_rollout("start", wanted)
    print_rollout(begun, as_json=as_json)


@rollout.command()
@click.argument("model", required=False)
@admin_options
def status(*, model: str | None, url: str, key_env: str, as_json: bool) -> None:
    """Show the latest rollout of every model; of one MODEL, what it rests on.

    \b
    Examples:
      heterodyne rollout status
      heterodyne rollout status chat
      heterodyne rollout status chat --json
    """
    from heterodyne.cli.output import print_json
    from heterodyne.cli.rollout.rollout_table import print_rollout, print_rollouts

    page = _client(url, key_env).rollouts(model)
    if as_json:
        print_json(page)
    elif model is not None and page.rollouts:
        standing = page.standings[0] if page.standings else None  # a gateway of an earlier version has none
        print_rollout(page.rollouts[0], as_json=False, standing=standing)
    else:
        print_rollouts(page.rollouts)


@rollout.command()
@click.argument("model")
@click.option("--timeout", "timeout_s", type=float, default=86_400.0, show_default=True, help="Seconds; then exit 1.")
@admin_options
def wait(*, model: str, timeout_s: float, url: str, key_env: str, as_json: bool) -> None:
    """Wait for the end of a MODEL's latest rollout; exit 0 when the candidate has taken over, else 1.

    \b
    Examples:
      heterodyne rollout wait chat
      heterodyne rollout wait chat --url http://eu:8081 && heterodyne rollout start chat --candidate v2 --url http://us:8081
    """
    import time

    from heterodyne.cli.rollout.rollout_table import print_rollout
    from heterodyne.domain.errors import UnknownName
    from heterodyne.rollout.machine import RolloutStatus

    client, until_s = _client(url, key_env), time.monotonic() + timeout_s
    while True:
        page = client.rollouts(model)
        if not page.rollouts:
            raise UnknownName(f"there is no rollout of {model}")
        latest = page.rollouts[0]
        if latest.is_ended or time.monotonic() >= until_s:
            break
        time.sleep(min(WAIT_S, max(0.0, until_s - time.monotonic())))
    print_rollout(latest, as_json=as_json)
    if latest.status is not RolloutStatus.COMPLETED:
        raise SystemExit(1)


def _by_hand(name: str, sentence: str) -> click.Command:
    @click.command(name, help=f"{sentence}\n\n\b\nExamples:\n  heterodyne rollout {name} chat")
    @click.argument("model")
    @admin_options
    def act(*, model: str, url: str, key_env: str, as_json: bool) -> None:
        from heterodyne.cli.rollout.rollout_table import print_rollout
        from heterodyne.console.rollouts.forms import RolloutOf

        print_rollout(_client(url, key_env).change_rollout(name, RolloutOf(model=model)), as_json=as_json)

    return act


for _name, _sentence in {
    "pause": "Leave the share of a MODEL's rollout as it is; surely worse, it is still taken back.",
    "resume": "Go on after a pause.",
    "promote": "Go to the next stage, whatever the evidence says.",
    "abort": "Go back to the baseline at once.",
}.items():
    rollout.add_command(_by_hand(_name, _sentence))


rollout.add_command(replay)


def _client(url: str, key_env: str) -> "AdminClient":
    import os

    from heterodyne.cli.admin_client import AdminClient

    return AdminClient(url, os.environ.get(key_env))
