"""`heterodyne plan traffic`: a log of requests in, what the planner needs to know of them out."""

from pathlib import Path

import click

from heterodyne.cli.output import print_json
from heterodyne.cli.plan.pages.html_option import html_option, provenance, write_page


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True), required=False)
@click.option("--example", is_flag=True, help="Print a small log of made-up chats to try plans with.")
@click.option(
    "--s-per-output-token",
    type=float,
    metavar="S",
    help="For logs without durations: what a token of an answer takes, to estimate how many are inside at once.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the profile as JSON.")
@html_option
def traffic(
    *, file: Path | None, example: bool, s_per_output_token: float | None, as_json: bool, html_file: Path | None
) -> None:
    """Say how many requests a log has, how long, how bursty, when, how many at once, and what their prompts share.

    Reads JSON lines (our records, OpenAI-style usage, Mooncake, Dynamo and AIBrix traces) and CSV with arrival, prompt
    and output lengths (Azure, BurstGPT); `.gz` and `.xz` too. Hashes of prompt blocks, where a line has them, give
    the share of prompt tokens that a cache would find.

    \b
    Examples:
      heterodyne plan traffic records.jsonl
      heterodyne plan traffic trace.csv.gz --s-per-output-token 0.03
      heterodyne plan traffic trace.jsonl.gz --json
      heterodyne plan traffic trace.jsonl.gz --html traffic.html
      heterodyne plan traffic --example > trace.csv
    """
    if example:
        from heterodyne.planning.traffic.example import example_csv

        click.echo(example_csv(), nl=False)
        return
    if file is None:
        raise click.UsageError("name a request log; --example prints one to try")
    from heterodyne.cli.plan.traffic_table import print_profile
    from heterodyne.planning.traffic.traffic_profile import traffic_profile
    from heterodyne.registry.request_log.read import read_request_log

    profile = traffic_profile(read_request_log(file), s_per_output_token=s_per_output_token)
    if html_file is not None:
        from heterodyne.cli.plan.pages.traffic import traffic_page

        write_page(html_file, traffic_page(profile, name=file.name, provenance=provenance()))
    if as_json:
        print_json(profile)
    else:
        print_profile(profile)
