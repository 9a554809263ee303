"""`heterodyne guards`: what guards find in a text, what policies would do about it, and what they did."""

import sys
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from heterodyne.cli.invocation import Invocation, pass_invocation
from heterodyne.cli.policies.guard_commands import hits, show
from heterodyne.domain.errors import InvalidSpec

if TYPE_CHECKING:
    from heterodyne.domain.guard_verdict import GuardVerdict
    from heterodyne.safety.finding import Finding
    from heterodyne.safety.scan import GuardFinding

FOUND: Final = 1  # the exit status, as of `grep -v` and linters: a pipeline stops on it
TEXT_BYTES_MAX: Final = 16 << 20
SHOWN_CHARACTERS: Final = 2  # of what was found, at either end


@click.group()
def guards() -> None:
    """Find personal data, secrets and prompt injection in a text, try policies on it, and see what they did.

    \b
    Examples:
      heterodyne guards scan prompt.txt
      heterodyne guards scan --guard secrets --mask < prompt.txt
      heterodyne guards try --project acme/search --model gpt-5 prompt.txt
      heterodyne guards hits --policy private
    """


guards.add_command(show)
guards.add_command(hits)


@guards.command()
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--guard", "names", multiple=True, metavar="NAME", help="pii, secrets or injection; else all three.")
@click.option("--mask", is_flag=True, help="Print the text with placeholders for personal data and secrets.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def scan(file: BinaryIO, names: tuple[str, ...], mask: bool, as_json: bool) -> None:
    """Say what guards find in a file, or in what is piped in; exit 1 if they find anything.

    What was found is shown by its first and last characters only.

    \b
    Examples:
      heterodyne guards scan prompt.txt
      echo "My card is 4111 1111 1111 1111" | heterodyne guards scan
      heterodyne guards scan --guard pii --guard secrets --mask prompt.txt
    """
    from heterodyne.cli.output import print_json
    from heterodyne.safety.scan import SCANNED
    from heterodyne.safety.scan import scan as scanned

    if mask and as_json:
        raise InvalidSpec("--mask and --json: give one of the two")
    text = _text(file.read(TEXT_BYTES_MAX + 1))
    found = scanned(text, names or SCANNED)
    if mask:
        click.echo(_masked(text, found), nl=False)
    elif as_json:
        print_json([{"guard": one.guard, **_told(text, one.finding)} for one in found])
    elif found:
        print_findings(text, found)
    else:
        click.echo("Nothing was found.")
    sys.exit(FOUND if found else 0)


@guards.command(name="try")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--project", default="local/local", metavar="ORG/PROJECT", help="Who asks; local/local without keys.")
@click.option("--model", required=True, metavar="NAME", help="The model that is asked for.")
@click.option("--answer", "is_answer", is_flag=True, help="Take the text for an answer, and not for a prompt.")
@click.option("--request", "asked", type=click.File("rb"), help="With --answer: the body of the request that it is to.")
@pass_invocation
def try_policies(  # noqa: PLR0917  # click names them all
    invocation: Invocation, file: BinaryIO, project: str, model: str, is_answer: bool, asked: BinaryIO | None
) -> None:
    """Say what the policies of the settings would do with a text; exit 1 if they would block it.

    A file that is the body of a request, or with --answer of an answer, in OpenAI's JSON, is taken for that: its calls
    of tools, its schema and its lengths are looked at as well.

    \b
    Examples:
      heterodyne guards try --model gpt-5 prompt.txt
      heterodyne guards try --model gpt-5 --answer --request request.json answer.json
      heterodyne --config heterodyne.toml guards try --project acme/search --model gpt-5 --answer answer.txt
    """
    from heterodyne.cli.guard_trial import looks_at, tried
    from heterodyne.safety.policy import GuardPolicy

    if asked is not None and not is_answer:
        raise InvalidSpec("--request: of an answer; give --answer too")
    text = _text(file.read(TEXT_BYTES_MAX + 1))
    plan = GuardPolicy(invocation.settings().guards).plan(project, model, model)
    rules = () if plan is None else plan.output if is_answer else plan.input
    elsewhere = () if plan is None else plan.remote("output" if is_answer else "input")
    if elsewhere:
        click.echo(f"Not asked, as they are elsewhere: {', '.join(rule.policy for rule in elsewhere)}.", err=True)
    if plan is None or not looks_at(rules, is_answer=is_answer):
        click.echo(f"No policy looks at {'answers' if is_answer else 'prompts'} of {project} to {model}.")
        return
    request = None if asked is None else _text(asked.read(TEXT_BYTES_MAX + 1))
    guarded, left, is_body = tried(plan, text, is_answer=is_answer, request=request)
    if guarded.verdicts:
        print_verdicts(None if is_body else text, guarded.verdicts)
    if any(one.action == "block" for one in guarded.verdicts):
        click.echo("The answer would end before it." if is_answer else "The request would be refused.")
        sys.exit(FOUND)
    if left != text:
        click.echo(f"{'The client' if is_answer else 'The engine'} would see:\n{left}")
    else:
        click.echo("It would pass as it is.")


def print_verdicts(text: str | None, verdicts: "tuple[GuardVerdict, ...]") -> None:
    """A row each; without a text, by their paths."""
    from heterodyne.cli.output import print_table

    if text is None:
        spans = [f"{one.start}-{one.end}" if one.end else "-" for one in verdicts]
        print_table(
            ("POLICY", "DOES", "RULE", "WHERE", "CHARACTERS", "SCORE"),
            [
                (one.policy, one.action, one.rule, one.where or "-", span, f"{one.score:g}")
                for one, span in zip(verdicts, spans, strict=True)
            ],
        )
        return
    header = ("POLICY", "DOES", "RULE", "LINE", "COLUMN", "SCORE", "FOUND")
    print_table(header, [(one.policy, one.action, *map(str, _told(text, one).values())) for one in verdicts])


def print_findings(text: str, found: "list[GuardFinding]") -> None:
    """A row each."""
    from heterodyne.cli.output import print_table

    header = ("GUARD", "RULE", "LINE", "COLUMN", "SCORE", "FOUND")
    print_table(header, [(one.guard, *map(str, _told(text, one.finding).values())) for one in found])


def _text(content: bytes) -> str:
    if len(content) > TEXT_BYTES_MAX:
        raise InvalidSpec(f"the text has more than {TEXT_BYTES_MAX >> 20} MiB; give it in parts")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InvalidSpec(f"the text is not UTF-8: byte {error.start}") from error


def _told(text: str, finding: "Finding | GuardVerdict") -> dict[str, object]:
    line_start = text.rfind("\n", 0, finding.start) + 1
    return {
        "rule": finding.rule,
        "line": text.count("\n", 0, finding.start) + 1,
        "column": finding.start - line_start + 1,
        "score": round(finding.score, 2),
        "found": _hinted(text[finding.start : finding.end]),
    }


def _hinted(value: str) -> str:
    """Enough to find it by, and too little to use."""
    value = " ".join(value.split())
    if len(value) <= 4 * SHOWN_CHARACTERS:
        return "…"
    return f"{value[:SHOWN_CHARACTERS]}…{value[-SHOWN_CHARACTERS:]}"


def _masked(text: str, found: "list[GuardFinding]") -> str:
    from heterodyne.safety.placeholders import mask

    # An injection is no value that something could stand for.
    return mask(text, [one.finding for one in found if one.guard != "injection"])[0]
