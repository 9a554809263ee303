"""The section of docs/benchmarks.md on gateways with many replicas behind them."""

from benchmarks.gateway.cells import number, title
from benchmarks.gateway.many_replicas import MORE_REPLICAS, REPLICAS, ManyReplicas
from benchmarks.gateway.upstream import TOKENS


def many_section(pairs: tuple[ManyReplicas, ...]) -> str:
    """Empty when it was not measured."""
    if not pairs:
        return ""
    lines = [
        f"## With {REPLICAS} and {MORE_REPLICAS} replicas",
        "",
        f"The same load on each gateway with one replica behind it and with {REPLICAS}, on ours with {MORE_REPLICAS}",
        "too, in turn. Looking after replicas (health, loads) is part of a gateway's CPU. The replicas are ports of",
        "one mock process. A ratio is the median of those of each start.",
        "",
        f"| gateway | replicas | CPU µs/request, 1 | many | ratio | CPU µs/stream of {TOKENS}, 1 | many | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for pair in pairs:
        one, many = pair.one, pair.many
        cells = (
            *(one.request_cpu_us, many.request_cpu_us, pair.request_ratio),
            *(one.stream_cpu_us, many.stream_cpu_us, pair.stream_ratio),
        )
        lines.append(f"| {title(one)} | {many.replicas} | {' | '.join(number(cell) for cell in cells)} |")
    return "\n".join([*lines, ""])
