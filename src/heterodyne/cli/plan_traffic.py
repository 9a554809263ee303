"""`heterodyne plan traffic`: a log of requests in, what the planner needs to know of them out."""

from pathlib import Path

import click

from heterodyne.cli.output import print_json, print_table

BAR_WIDTH = 40


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print the profile as JSON.")
def traffic(file: Path, as_json: bool) -> None:
    """Say how many requests a log has, how long they are, how bursty, when, and how many at once.

    Reads our records and OpenAI-style usage as JSON lines, and CSV with arrival, prompt and output lengths; `.gz` too.

    \b
    Examples:
      heterodyne plan traffic records.jsonl
      heterodyne plan traffic trace.csv.gz --json
    """
    from heterodyne.planning.traffic import traffic_profile
    from heterodyne.registry.request_log import read_request_log

    profile = traffic_profile(read_request_log(file))
    if as_json:
        print_json(profile)
        return
    peak = "unknown: the log has no durations" if profile.concurrency_peak is None else str(profile.concurrency_peak)
    print_table(
        ("WHAT", "VALUE"),
        [
            ["requests", f"{profile.requests:,} in {profile.span_s / 3600:,.2f} h"],
            ["requests/s", f"{profile.requests_per_s:,.2f}, {profile.peak_requests_per_s:,.2f} in the busiest minute"],
            ["burstiness", f"{profile.burstiness:.2f} (0 a metronome, 1 chance, more in bursts)"],
            ["at once", peak],
            ["cached", f"{profile.cached_share:.0%} of prompt tokens"],
        ],
    )
    click.echo()
    print_table(
        ("TOKENS", "MEAN", "P50", "P90", "P99", "LONGEST"),
        [
            [name, f"{one.mean:,.0f}", *(f"{count:,}" for count in (one.p50, one.p90, one.p99, one.longest))]
            for name, one in (("prompt", profile.prompt), ("output", profile.output))
        ],
    )
    busiest = max(profile.hourly_share)
    click.echo("\nby hour of the day, UTC")
    for hour, share in enumerate(profile.hourly_share):
        if share:
            click.echo(f"  {hour:02}  {share:6.1%}  {'█' * max(1, round(share / busiest * BAR_WIDTH))}")
