"""What the live and the simulated benchmark of batches are asked, and the interactive traffic of both."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, structs

from benchmarks.mean_capacity import mean_capacity_rps
from benchmarks.routing_live.client import OUTPUT_TOKENS_MAX
from benchmarks.routing_live.fleet import CONTEXT_TOKENS, laid_out
from benchmarks.traces.traces import AZURE, SERVEGEN, read_traces
from heterodyne.physics.serving import Slo
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.workload import workload

WARM_S = 10.0  # of a batch, that its pace is not measured in
CAPACITY_REQUESTS = 20_000  # of the trace, that tell how many like them the fleet can hold
PACE_TRIES, LOAD_NEAR = 8, 0.005
IN_FLIGHT_MAX = 4096  # of the worker: more than the fleet can hold, so that its replicas are what is filled


class InteractiveTraffic(Struct, frozen=True, kw_only=True):
    """Requests that the fleet can hold, and how many come in a second."""

    log: list[TraceRequest]  # more than come
    rate: float


def slo_of(options: argparse.Namespace) -> Slo:
    """What is promised."""
    return Slo(ttft_s=options.slo_ttft_ms / 1000, itl_s=options.slo_itl_ms / 1000)


def interactive(
    options: argparse.Namespace, slo: Slo, pools: Sequence[LaidOutPool] | None = None
) -> InteractiveTraffic:
    """At the share of the fleet's capacity that was asked for, while the batch is there.

    A trace has quiet hours and long requests, and what is played is a short piece of it: its pace is moved until those
    that come beside the batch, as many and as long as they are, make up the load.
    """
    pools = laid_out() if pools is None else pools
    trace = read_traces(options.data)[options.trace]
    end_s = options.warm_s + options.seconds
    rate = options.load * mean_capacity_rps(pools, workload(trace.part(options.seed, CAPACITY_REQUESTS)), slo)
    log = [
        one
        for one in trace.part(options.seed, 4 * int(rate * end_s))
        if one.prompt_tokens + OUTPUT_TOKENS_MAX <= CONTEXT_TOKENS and one.output_tokens <= OUTPUT_TOKENS_MAX
    ]
    for _ in range(PACE_TRIES):
        traffic = workload(log[: int(rate * end_s)], rate=rate)
        beside = structs.replace(traffic, arrivals=tuple(one for one in traffic.arrivals if one.at_s >= options.warm_s))
        load = len(beside.arrivals) / options.seconds / mean_capacity_rps(pools, beside, slo)
        if abs(load / options.load - 1.0) < LOAD_NEAR:
            break
        rate *= options.load / load
    return InteractiveTraffic(log=log, rate=rate)


def read_options(description: str | None, seconds: float) -> argparse.Namespace:
    """Of the command line."""
    return options_parser(description, seconds).parse_args()


def options_parser(description: str | None, seconds: float) -> argparse.ArgumentParser:
    """Takes what all of these benchmarks are asked."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the traces")
    parser.add_argument("--trace", choices=(AZURE, SERVEGEN), default=AZURE)
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--shared-tokens", type=int, default=512)
    parser.add_argument("--own-tokens", type=int, default=64)
    parser.add_argument("--output-tokens", type=int, default=64)
    parser.add_argument("--load", type=float, default=0.6, help="of the rate at which the fleet keeps its promise")
    parser.add_argument("--seconds", type=float, default=seconds, help="of interactive traffic beside the batch")
    parser.add_argument("--warm-s", type=float, default=60.0, help="of traffic before the batch comes")
    parser.add_argument("--policy", default="slo")
    parser.add_argument("--slo-ttft-ms", type=float, default=1000.0)
    parser.add_argument("--slo-itl-ms", type=float, default=50.0)
    parser.add_argument("--seed", type=int, default=1)
    return parser
