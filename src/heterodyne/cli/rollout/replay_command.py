"""`heterodyne rollout replay`: ask a candidate again what users asked before."""

import os
from collections import deque
from typing import TYPE_CHECKING

import click

from heterodyne.cli.audit.place import AuditPlace, at_place
from heterodyne.cli.moment import moment_s
from heterodyne.cli.progress import counting

if TYPE_CHECKING:
    from heterodyne.audit.search import AuditQuery
    from heterodyne.rollout.replay import CapturedRequest, ReplaySeen

API_KEY_VARIABLE = "HETERODYNE_API_KEY"


@click.command()
@click.argument("model")
@click.option("--to", "url", required=True, metavar="URL", help="The candidate: an engine, or another gateway.")
@click.option("--served-model", metavar="NAME", help="What MODEL is called there; else the same.")
@click.option("--requests", type=click.IntRange(1, 10_000), default=200, show_default=True, help="The latest that fit.")
@click.option("--project", metavar="PROJECT", help="Requests of one project.")
@click.option("--since", callback=moment_s, metavar="TIME", help="From this time on; ISO 8601, UTC unless it says.")
@click.option("--judge", metavar="NAME", help="Model that says which of two answers is better.")
@click.option("--judge-url", metavar="URL", help="Where the judge is; else at the same address.")
@click.option("--region", metavar="REGION", help="Where candidate and judge are, for what is held to regions.")
@click.option("--in-flight", type=click.IntRange(1, 64), default=4, show_default=True, help="Asked at the same time.")
@click.option("--timeout", "timeout_s", type=float, default=120.0, show_default=True, help="Seconds for one answer.")
@click.option("--key-env", default=API_KEY_VARIABLE, show_default=True, metavar="NAME", help="Variable of the API key.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@at_place
def replay(
    *,
    model: str,
    url: str,
    served_model: str | None,
    requests: int,
    project: str | None,
    since: float | None,
    judge: str | None,
    judge_url: str | None,
    region: str | None,
    in_flight: int,
    timeout_s: float,
    key_env: str,
    as_json: bool,
    place: AuditPlace,
) -> None:
    """Ask a candidate again what users asked a MODEL before, and compare the answers; exit 1 when it is surely worse.

    Read is what the audit log holds of projects with `keeps_content`, redacted. Nobody gets the answers. Requests of
    keys that are held to regions are left out, unless --region is one of them.

    \b
    Examples:
      heterodyne rollout replay chat --to http://10.0.0.8:8000
      heterodyne rollout replay chat --to http://10.0.0.8:8000 --judge judge-70b --judge-url http://127.0.0.1:8080
    """
    from heterodyne.audit.search import AuditQuery
    from heterodyne.cli.chat.openai_client import OpenAIClient
    from heterodyne.cli.output import print_json
    from heterodyne.cli.rollout.replayer import AskedModel, Replayer
    from heterodyne.domain.errors import InvalidSpec

    captured = _captured(place, model, requests, AuditQuery(project=project, since=since), region)
    if not captured:
        raise InvalidSpec(
            f"{place.folder}: the audit log holds no answered request of {model} with its text; "
            "a project keeps it with `heterodyne tenants update PROJECT --keeps-content`"
        )
    key = os.environ.get(key_env)
    candidate = AskedModel(OpenAIClient(url, key, timeout_s), served_model or model)
    jury = None if judge is None else AskedModel(OpenAIClient(judge_url or url, key, timeout_s), judge)
    replayer = Replayer(candidate, jury, in_flight)
    with counting("asking", len(captured), is_json=as_json) as done:
        seen = replayer.replay(captured, on_each=lambda: done(1))
    if as_json:
        print_json(seen)
    else:
        _print(seen, replayer.first_error)
    if seen.is_worse:
        raise SystemExit(1)


def _captured(
    place: AuditPlace, model: str, requests: int, query: "AuditQuery", region: str | None
) -> list["CapturedRequest"]:
    from heterodyne.audit.search import FoundEntry, search
    from heterodyne.domain.audit import RequestEntry
    from heterodyne.rollout.replay import try_capture

    latest: deque[CapturedRequest] = deque(maxlen=requests)

    def take(found: FoundEntry) -> None:
        entry = found.entry
        if isinstance(entry, RequestEntry) and model in (entry.model, entry.asked_model):
            captured = try_capture(entry, region)
            if captured is not None:
                latest.append(captured)

    verdict = search(place.folder, place.key(), query, take)
    if not verdict.is_intact:
        click.echo("the log is not as it was written: `heterodyne audit verify` says where", err=True)
    return list(latest)


def _print(seen: "ReplaySeen", first_error: str) -> None:
    from heterodyne.cli.rollout.rollout_table import print_evidence
    from heterodyne.console.rollouts.standing import evidence_of
    from heterodyne.domain.counted import counted

    print_evidence(evidence_of(seen.verdict))
    click.echo()
    asked = counted(seen.candidate.requests, "request")
    if seen.likeness.count:
        click.echo(f"{asked}; words alike: {seen.likeness.total / seen.likeness.count:.0%}")
    if seen.preference is not None:
        found = seen.preference
        click.echo(f"the judge prefers the candidate {found.candidate} times, what was answered {found.before} times")
    if first_error:
        click.echo(f"the first failure: {first_error}")
