"""`heterodyne audit`: verify the audit log, look into it, anchor it, and go on after a break."""

import sys
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

import click

from heterodyne.cli.audit.place import FILE, AuditPlace, at_place
from heterodyne.cli.audit.rows import HEADER, row, write_csv
from heterodyne.cli.moment import moment_s
from heterodyne.cli.output import print_json, print_table
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from heterodyne.audit.finding import VerificationReport
    from heterodyne.audit.search import FoundEntry

Command = TypeVar("Command", bound=Callable[..., object])

FINDINGS_SHOWN = 20


def choosing(command: Command) -> Command:
    """Which entries."""
    options = (
        click.option("--request", metavar="ID", help="The entry of one request."),
        click.option("--project", metavar="PROJECT", help="Requests of one project."),
        click.option(
            "--since", callback=moment_s, metavar="TIME", help="From this time on; ISO 8601, UTC unless it says."
        ),
        click.option("--until", callback=moment_s, metavar="TIME", help="Before this time."),
        click.option("--changes", "only_changes", is_flag=True, help="Only changes by operators."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def audit() -> None:
    """Verify the audit log, look into it, anchor it.

    \b
    Examples:
      heterodyne audit verify
      heterodyne audit show --changes
      heterodyne audit verify --dir /mnt/copy/audit --key-file audit.key
    """


@audit.command()
@at_place
@click.option("--anchors", type=FILE, metavar="FILE", help="Compare with the anchors in this file, too.")
@click.option(
    "--from-segment",
    type=click.IntRange(min=1),
    metavar="N",
    help="Begin with this segment, those before are archived.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def verify(*, place: AuditPlace, anchors: Path | None, from_segment: int | None, as_json: bool) -> None:
    """Say whether the log is as it was written, or where it is not; exit 1 when it is not.

    \b
    Examples:
      heterodyne audit verify
      heterodyne audit verify --anchors /mnt/elsewhere/anchors.jsonl --json
    """
    from heterodyne.audit.segments import list_segments
    from heterodyne.audit.verify import verify as verify_log
    from heterodyne.domain.errors import AuditBroken

    key = place.key()
    size_bytes = sum(segment.path.stat().st_size for segment in list_segments(place.folder))
    is_told = sys.stderr.isatty() and not as_json
    bar = click.progressbar(length=size_bytes, label="reading", file=sys.stderr) if is_told else nullcontext()
    with bar as progress:
        seen = progress.update if progress is not None else None
        verdict = verify_log(place.folder, key, anchors=anchors, from_segment=from_segment, on_progress=seen)
    if as_json:
        print_json(verdict)
    if not verdict.is_intact:
        raise AuditBroken("\n".join(_break_lines(place.folder, verdict)))
    if not verdict.entries:
        raise AuditBroken(f"{place.folder}: there is no audit log")
    if not as_json:
        click.echo(_in_words(verdict))


@audit.command()
@at_place
@choosing
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Show the last N of them.")
@click.option("--json", "as_json", is_flag=True, help="Print the entries whole, as JSON.")
def show(*, place: AuditPlace, limit: int, as_json: bool, **chosen: object) -> None:
    """Show entries of the log.

    \b
    Examples:
      heterodyne audit show --request 0195f0c2a7
      heterodyne audit show --project acme/search --since 2026-03-01 --json
    """
    last: deque[FoundEntry] = deque(maxlen=limit)
    verdict = _search(place, chosen, last.append)
    if as_json:
        print_json(list(last))
    else:
        print_table(HEADER, [row(found) for found in last])
    _warn(verdict)


@audit.command()
@at_place
@choosing
@click.option("--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True)
@click.option("--output", type=click.File("w", encoding="utf-8", lazy=False), default="-", help="Else on stdout.")
def export(*, place: AuditPlace, form: str, output: IO[str], **chosen: object) -> None:
    """Write entries as JSON lines or as a table; the chain does not travel with them, each entry's hash does.

    \b
    Examples:
      heterodyne audit export --since 2026-03-01 --until 2026-04-01 --output march.jsonl
      heterodyne audit export --changes --format csv
    """
    import msgspec

    from heterodyne.audit.search import flat

    if form == "csv":
        write = write_csv(output)
    else:

        def write(found: "FoundEntry") -> None:
            output.write(msgspec.json.encode(flat(found)).decode() + "\n")

    _warn(_search(place, chosen, write))


@audit.command()
@at_place
@click.option("--to", type=FILE, metavar="FILE", help="Append the anchor to this file; else it is printed.")
def anchor(*, place: AuditPlace, to: Path | None) -> None:
    """Make an anchor of the last entry, to be kept where whoever can write to the log cannot.

    \b
    Examples:
      heterodyne audit anchor --to /mnt/elsewhere/anchors.jsonl
      heterodyne audit anchor | mail -s anchor auditor@example.com
    """
    import time

    from heterodyne.audit.anchor import AnchorFile, anchor_line, make_anchor
    from heterodyne.audit.verify import verify as verify_log
    from heterodyne.domain.errors import AuditBroken

    key = place.key()
    verdict = verify_log(place.folder, key)
    if not verdict.is_intact or not verdict.entries:
        raise AuditBroken("\n".join(_break_lines(place.folder, verdict)))
    made = make_anchor(key, verdict.log, verdict.last_seq, verdict.last_hash, time.time())
    if to is None:
        click.echo(anchor_line(made), nl=False)
    else:
        AnchorFile(to).put(made)
        click.echo(f"entry {made.seq} anchored in {to}", err=True)


@audit.command("hash")
@at_place
@click.option("--project", required=True, metavar="PROJECT", help="Whose request it was.")
@click.option("--answer", "is_answer", is_flag=True, help="The file is an answer; else a prompt.")
@click.argument("file", type=click.File("rb"))
def hash_body(*, place: AuditPlace, project: str, is_answer: bool, file: IO[bytes]) -> None:
    """Print the keyed hash that a body would have in the log, to say whether it is the one that was sent.

    FILE holds the body byte for byte: of a prompt the JSON that was posted, of an answer the bytes that came.

    \b
    Examples:
      heterodyne audit hash --project acme/search request.json
      heterodyne audit hash --project acme/search --answer answer.txt
    """
    content_key = place.key().content
    click.echo(content_key.hmac(project, "answer" if is_answer else "prompt", (file.read(),)))


@audit.command()
@at_place
def resume(*, place: AuditPlace) -> None:
    """Begin a new segment after a break, and record what was wrong; nothing before it is touched.

    `audit verify` goes on telling of the break. Keep a copy of the folder first.

    \b
    Examples:
      heterodyne audit resume
    """
    from heterodyne.audit.log import AuditLog
    from heterodyne.audit.settings import AuditSettings

    log = AuditLog(place.folder, place.key(), AuditSettings(), after_break=True)
    state = log.snapshot()
    log.close()
    click.echo(f"the log goes on with entry {state.seq + 1} in segment {state.segment}")


def _search(
    place: AuditPlace, chosen: dict[str, object], on_found: Callable[["FoundEntry"], None]
) -> "VerificationReport":
    import msgspec

    from heterodyne.audit.search import AuditQuery, search

    wanted: AuditQuery = msgspec.convert(chosen, AuditQuery)
    return search(place.folder, place.key(), wanted, on_found)


def _break_lines(folder: Path, verdict: "VerificationReport") -> list[str]:
    if verdict.is_intact:
        return [f"{folder}: there is no audit log"]
    count = verdict.findings_total
    shown = verdict.findings[:FINDINGS_SHOWN]
    places = "one place" if count == 1 else f"{count} places"
    more = [f"and {count - len(shown)} more"] if count > len(shown) else []
    return [f"{folder}: the audit log is not as it was written, in {places}", *map(str, shown), *more]


def _in_words(verdict: "VerificationReport") -> str:
    entries, segments = counted(verdict.entries, "entry", "entries"), counted(verdict.segments, "segment")
    parts = [f"{entries} in {segments}, all as they were written"]
    if verdict.anchors:
        parts.append("1 anchor agrees" if verdict.anchors == 1 else f"{verdict.anchors} anchors agree")
    if verdict.unfinished_bytes:
        parts.append(
            f"{counted(verdict.unfinished_bytes, 'byte')} at the end of a write under way, or cut short by a crash"
        )
    return "; ".join(parts)


def _warn(verdict: "VerificationReport") -> None:
    if not verdict.is_intact:
        click.echo("the log is not as it was written: `heterodyne audit verify` says where", err=True)
