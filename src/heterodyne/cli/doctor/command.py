"""`heterodyne doctor`: look everywhere, then say what is here and what keeps this machine from serving."""

from typing import TYPE_CHECKING

import click

from heterodyne.cli.invocation import Invocation, pass_invocation

if TYPE_CHECKING:
    from heterodyne.cli.doctor.finding import DoctorFinding
    from heterodyne.config.settings import Settings

MARKS = {"good": "ok  ", "note": "note", "warning": "warn", "blocker": "FAIL"}
COLOURS = {"good": "green", "note": "cyan", "warning": "yellow", "blocker": "red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@pass_invocation
@click.pass_context
def doctor(ctx: click.Context, invocation: Invocation, as_json: bool) -> None:
    """Say what is here and what keeps this machine from serving; exit 1 when something does.

    Goes out to look: ports, weights, engines, stores. `heterodyne config check` reads the settings alone.

    \b
    Examples:
      heterodyne doctor
      heterodyne doctor --json
      heterodyne --config /etc/heterodyne.toml doctor
    """
    from heterodyne.cli.doctor.finding import FindingState
    from heterodyne.cli.output import print_json

    findings = examine(invocation)
    blockers = sum(finding.state is FindingState.BLOCKER for finding in findings)
    if as_json:
        print_json({"can_serve": blockers == 0, "findings": findings})
    else:
        _print(findings)
        click.echo(_verdict(findings), err=True)
    ctx.exit(1 if blockers else 0)


def examine(invocation: Invocation) -> "list[DoctorFinding]":
    """Every finding; where the settings are refused, the defaults stand in for the rest of the look."""
    from heterodyne.cli.doctor.accelerators import accelerators
    from heterodyne.cli.doctor.certificates import certificates
    from heterodyne.cli.doctor.clock import clock
    from heterodyne.cli.doctor.engines import engines
    from heterodyne.cli.doctor.gateways import gateways
    from heterodyne.cli.doctor.installed import installed
    from heterodyne.cli.doctor.issuers import issuers
    from heterodyne.cli.doctor.kv_exchange import kv_exchange
    from heterodyne.cli.doctor.limits import file_descriptors
    from heterodyne.cli.doctor.ports import ports
    from heterodyne.cli.doctor.residency import residency
    from heterodyne.cli.doctor.stores import stores
    from heterodyne.cli.doctor.weights import weights

    settings, about_settings = _settings(invocation)
    starts_here = any(pool.weights is not None for pool in settings.pools.values())
    return [
        *installed(needs_embedded_engine=starts_here),
        *accelerators(),
        *about_settings,
        *ports(settings),
        file_descriptors(settings.gateway),
        clock(),
        *certificates(settings),
        *issuers(settings),
        *stores(settings),
        *gateways(settings),
        *residency(settings),
        *weights(settings),
        *engines(settings),
        *kv_exchange(settings),
    ]


def _settings(invocation: Invocation) -> "tuple[Settings, list[DoctorFinding]]":
    from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
    from heterodyne.config.problems import SettingsProblems
    from heterodyne.config.settings import Settings

    try:
        resolved = invocation.resolve()
    except SettingsProblems as error:
        return Settings(), [
            DoctorFinding(
                topic="settings",
                name=problem.path,
                state=FindingState.BLOCKER,
                value=problem.message,
                advice="repair it, then run `heterodyne config check`",
            )
            for problem in error.problems
        ]
    value = f"valid; {resolved.file or 'no file, defaults hold'}"
    return resolved.settings, [DoctorFinding(topic="settings", name="file", state=FindingState.GOOD, value=value)]


def _print(findings: "list[DoctorFinding]") -> None:
    topic = ""
    for finding in findings:
        if finding.topic != topic:
            topic = finding.topic
            click.echo(topic)
        click.echo(f"  {click.style(MARKS[finding.state], fg=COLOURS[finding.state])}  {finding.name}: {finding.value}")
        if finding.advice is not None:
            click.echo(f"        {finding.advice}")


def _verdict(findings: "list[DoctorFinding]") -> str:
    from heterodyne.cli.doctor.finding import FindingState
    from heterodyne.cli.doctor.ports import RUNS
    from heterodyne.domain.counted import counted

    blockers = sum(finding.state is FindingState.BLOCKER for finding in findings)
    warnings = sum(finding.state is FindingState.WARNING for finding in findings)
    if blockers:
        return f"{blockers} {'thing keeps' if blockers == 1 else 'things keep'} this machine from serving"
    if any(finding.value == RUNS for finding in findings):
        verdict = "serving: a gateway of these settings already runs"
    else:
        verdict = "ready: `heterodyne serve` can start"
    return f"{verdict}, with {counted(warnings, 'warning')}" if warnings else verdict
