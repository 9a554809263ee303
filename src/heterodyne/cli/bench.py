"""`heterodyne bench`: load any OpenAI-compatible URL and report latencies, rates and failures."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from heterodyne.cli.settings_address import gateway_url

if TYPE_CHECKING:
    from heterodyne.bench.plan import BenchPlan
    from heterodyne.bench.report import BenchReport
    from heterodyne.bench.run import Progress

EXAMPLES = """
\b
Examples:
  heterodyne bench --requests 200 --concurrency 8
  heterodyne bench --rate 20 --duration 60 --prompt-tokens lognormal:5:0.8
  heterodyne bench --url https://api.example.com/v1 --model NAME --rate 2 --json > run.json
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--url",
    callback=lambda ctx, _, value: value or gateway_url(ctx),
    metavar="URL",
    help="Server; a bare address means its /v1. Else the gateway of the settings.",
)
@click.option("--api-key", envvar="HETERODYNE_API_KEY", show_envvar=True, help="Sent as a bearer token.")
@click.option("--ca-file", type=click.Path(exists=True, dir_okay=False), help="Certificate authorities to trust, PEM.")
@click.option("--model", help="Model to ask for.  [default: the first of /v1/models]")
@click.option(
    "--operation",
    type=click.Choice(["chat", "completion", "embedding"]),
    default="chat",
    show_default=True,
    help="Kind of request.",
)
@click.option("--stream/--no-stream", default=True, show_default=True, help="Ask for server-sent events.")
@click.option("--rate", type=float, help="Open loop: requests per second, sent whatever the server does.")
@click.option(
    "--arrival",
    type=click.Choice(["poisson", "constant"]),
    default="poisson",
    show_default=True,
    help="Spacing of an open loop.",
)
@click.option("--concurrency", type=int, help="Closed loop: users who wait for their answers.  [default: 1]")
@click.option("--requests", type=int, help="Stop after this many.  [default: 100 when there is no --duration]")
@click.option("--duration", type=float, help="Stop sending after this many seconds.")
@click.option("--prompt-tokens", default="fixed:128", show_default=True, help="Length of prompts: see below.")
@click.option("--output-tokens", default="fixed:64", show_default=True, help="max_tokens of requests: see below.")
@click.option("--shared-prefix", type=int, default=0, metavar="TOKENS", help="Words all prompts begin with, on top.")
@click.option("--ignore-eos", is_flag=True, help="Ask the engine to write exactly the output length.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same prompts and arrivals.")
@click.option("--timeout", type=float, default=120.0, show_default=True, help="Seconds for one request.")
@click.option("--warm-up", type=int, default=0, metavar="REQUESTS", help="Sent first and not counted.")
@click.option("--in-flight-max", type=int, default=4096, show_default=True, help="Requests at once in an open loop.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def bench(as_json: bool, **options: Any) -> None:
    """Load an OpenAI-compatible server and report latencies, rates and failures.

    With --rate the load is open loop: requests leave on schedule, and latency counts from the scheduled
    time, so a stalled server cannot hide behind requests that were never sent.

    Lengths are fixed:128, uniform:32:512, normal:256:64, lognormal:5:0.8, or a file with one length per line.
    """
    import uvloop
    from rich.console import Console

    from heterodyne.bench.failure import ExchangeFailed
    from heterodyne.bench.table import render
    from heterodyne.domain.errors import SettingsInvalid

    try:
        report = uvloop.run(_measure(options))
    except SettingsInvalid as error:
        raise click.UsageError(str(error)) from error
    except ExchangeFailed as failed:
        raise click.ClickException(f"no model list from {options['url']} ({failed}); try --model NAME") from failed
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2))
    else:
        Console().print(render(report))
    if not report.succeeded:
        sys.exit(1)


async def _measure(options: dict[str, Any]) -> "BenchReport":
    """Options become a plan; the plan is run under a progress line on stderr."""
    import asyncio
    import signal
    import time

    import msgspec

    from heterodyne.bench.endpoint import parse_endpoint
    from heterodyne.bench.models import first_model
    from heterodyne.bench.run import run

    clock = time.perf_counter
    plan = _plan(options)
    endpoint = parse_endpoint(plan.url, api_key=plan.api_key, ca_file=plan.ca_file)
    if not plan.model:
        model = await first_model(endpoint, timeout_s=plan.timeout_s, clock=clock)
        plan = msgspec.structs.replace(plan, model=model)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop.set)
    try:
        with _progress_line(plan) as on_progress:
            return await run(plan, clock=clock, on_progress=on_progress, stop=stop)
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _plan(options: dict[str, Any]) -> "BenchPlan":
    from heterodyne.bench.lengths import parse_lengths
    from heterodyne.bench.plan import ArrivalProcess, BenchPlan
    from heterodyne.domain.operation import Operation

    rate, concurrency = options["rate"], options["concurrency"]
    requests, duration_s = options["requests"], options["duration"]
    return BenchPlan(
        url=options["url"],
        model=options["model"] or "",
        api_key=options["api_key"],
        ca_file=options["ca_file"],
        operation=Operation(options["operation"]),
        stream=options["stream"],
        rate_requests_per_s=rate,
        arrival=ArrivalProcess(options["arrival"]),
        concurrency=1 if rate is None and concurrency is None else concurrency,
        requests=100 if requests is None and duration_s is None else requests,
        duration_s=duration_s,
        prompt_tokens=parse_lengths(options["prompt_tokens"]),
        output_tokens=parse_lengths(options["output_tokens"]),
        shared_prefix_tokens=options["shared_prefix"],
        ignore_eos=options["ignore_eos"],
        seed=options["seed"],
        timeout_s=options["timeout"],
        warm_up_requests=options["warm_up"],
        in_flight_max=options["in_flight_max"],
    )


@contextmanager
def _progress_line(plan: "BenchPlan") -> Iterator["Callable[[Progress], None] | None"]:
    """One line that rewrites itself on a terminal; nothing when stderr is a file."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status(f"warming up {plan.url}") as status:

        def show(progress: "Progress") -> None:
            in_flight = max(0, progress.sent - progress.succeeded - progress.failed)
            status.update(
                f"{progress.elapsed_s:6.1f} s  {progress.succeeded:,} answered  "
                f"{in_flight:,} in flight  {progress.failed:,} failed"
            )

        yield show
