"""`make bench-gpu`: real engines on the accelerator of this machine, alone and behind the gateway."""

import argparse
import re
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks.gpu.card import card_name
from benchmarks.gpu.engines import Engine, found_engines
from benchmarks.gpu.gateway import Rules
from benchmarks.gpu.measure import Bench
from benchmarks.gpu.page import page
from benchmarks.gpu.replicas import Replica, Wanted, running
from benchmarks.gpu.results import ReplicaFacts, Results, Side
from benchmarks.gpu.trace import ANSWER_MEAN, asks
from benchmarks.gpu.weights import SHAPES, random_weights
from benchmarks.machine import describe

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gpu.md"
RESULTS = Path(__file__).with_name("gpu.json")
POLICIES = ("slo", "round-robin", "least-request")
TRACE_SEED = 7
MIX_SHARES = (0.3, 0.6, 0.9)  # of what all replicas can do together
POLICIES_SHARE = 0.75
PROMISED_AT_ONCE = 4
TTFT_SHARE, ITL_SHARE = 3.0, 1.25  # of what the slowest replica takes in the median at the least load


def main() -> int:
    """Print the page, and write it where it is kept."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # engines end with whoever started them
    if options.page_only:
        results = msgspec.json.decode(RESULTS.read_bytes(), type=Results)
        results.notes += options.note
        _write(results, options)
        return 0
    began_s = time.monotonic()
    engines = found_engines(tuple(options.engine))
    if not engines:
        print(
            "no engine is installed beside this Python: vLLM, SGLang, TensorRT-LLM, JAX or transformers",
            file=sys.stderr,
        )
        return 1
    with tempfile.TemporaryDirectory() as name:
        results = _measured(Path(name), engines, options, began_s)
    print(page(results))
    return 0


def _measured(room: Path, engines: tuple[Engine, ...], options: argparse.Namespace, began_s: float) -> Results:
    """Written down after every step: a lease of a card may end before all of them."""
    weights = Path(options.weights) if options.weights else room / "weights"
    wanted = _wanted(engines, weights, options)
    _tell(began_s, "weights are there")
    words = min(SHAPES[shape].vocab_size for shape in options.shape)
    rules = Rules(model=options.model or options.shape[0], hardware=options.hardware)
    with running(wanted, room, device=options.device) as replicas:
        results = _nothing_yet(replicas, rules.model, options)
        bench = Bench(replicas, rules, room, words)
        bench.warm_up()

        def keep(words: object) -> None:
            results.seconds, results.seen = time.monotonic() - began_s, bench.seen
            _write(results, options)
            _tell(began_s, str(words))

        keep("replicas are ready")
        for at_once in options.at_once:
            results.loads.append(bench.load(at_once, _requests(at_once, options.requests)))
            keep(results.loads[-1])
        if len(replicas) > 1:
            most = max(options.at_once)
            results.alone = bench.alone(most, _requests(most, options.requests))
            keep(results.alone)
            per_s = sum(side.tokens_per_s for side in results.alone) / ANSWER_MEAN
            for share in MIX_SHARES:
                results.mixes.append(bench.mix(share, options.trace, share * per_s))
                keep(results.mixes[-1])
            _promise(results, bench.alone(PROMISED_AT_ONCE, _requests(PROMISED_AT_ONCE, options.requests)), per_s)
        for policy in POLICIES if len(replicas) > 1 else ():
            made = asks(options.trace, seed=TRACE_SEED, per_s=results.policies_per_s)
            results.policies.append(bench.policy(policy, made, (results.slo_ttft_ms, results.slo_itl_ms)))
            keep(results.policies[-1])
        if options.calibrate_s:
            counts = {run.at_once: _requests(run.at_once, options.requests // 2) for run in results.loads}
            results.loads, said = bench.calibrated_loads(results.loads, counts, options.calibrate_s)
            results.calibration = said.strip().splitlines()[-4:]
            keep(said)
    return results


def _nothing_yet(replicas: Sequence[Replica], model: str, options: argparse.Namespace) -> Results:
    facts = [
        ReplicaFacts(
            name=one.name,
            engine=one.engine.name,
            version=one.engine.version,
            shape=one.folder.name,
            ready_s=one.ready_s,
        )
        for one in replicas
    ]
    arguments = f' ARGS="{options.said}"' if options.said else ""
    return Results(
        day=datetime.now(UTC).date().isoformat(),
        machine=describe(),
        card=card_name(),
        notes=options.note,
        command=f"make bench-gpu{arguments}",
        model=model,
        replicas=facts,
    )


def _promise(results: Results, light: Sequence[Side], per_s: float) -> None:
    """What every replica keeps while it has little to do, and so much to do that the slow one cannot take its half."""
    results.slo_ttft_ms = TTFT_SHARE * max(side.ttft_p50_ms for side in light)
    results.slo_itl_ms = ITL_SHARE * max(side.itl_p50_ms for side in light)
    results.policies_per_s = POLICIES_SHARE * per_s


def _write(results: Results, options: argparse.Namespace) -> None:
    data = msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n"
    if options.out:
        (Path(options.out) / "gpu.json").write_bytes(data)
        (Path(options.out) / "gpu.md").write_text(page(results), encoding="utf-8")
    else:
        RESULTS.write_bytes(data)
        PAGE.write_text(page(results), encoding="utf-8")


def _wanted(engines: tuple[Engine, ...], weights: Path, options: argparse.Namespace) -> list[Wanted]:
    """A replica for each shape, of the engines in turn, so that two of one engine are of different speed."""
    share = 0.8 / len(options.shape)
    return [
        Wanted(
            name=f"replica-{number}",
            engine=engines[number % len(engines)],
            folder=random_weights(shape, weights, device=options.device),
            memory_share=share,
        )
        for number, shape in enumerate(options.shape)
    ]


def _requests(at_once: int, requests: int) -> int:
    """One at once takes its time; many at once need several each."""
    return max(requests // 20, 4) if at_once == 1 else max(requests, 2 * at_once)


def _tell(began_s: float, words: str) -> None:
    print(f"{time.monotonic() - began_s:6.0f} s: {words}", file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--engine", action="append", default=[], help="only these; else all that are installed")
    parser.add_argument(
        "--shape", action="append", choices=tuple(SHAPES), help="a replica for each; the first is measured alone"
    )
    parser.add_argument("--model", help="the name that forecasts begin with; else the first shape's")
    parser.add_argument("--hardware", default="h200-sxm", help="as `heterodyne hardware` names it")
    parser.add_argument("--weights", help="folder of weights by shape; what is missing is made there")
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--requests", type=int, default=120, help="of each load; one at once gets a twentieth")
    parser.add_argument("--calibrate-s", type=float, default=30.0, help="0: no calibration")
    parser.add_argument("--trace", type=int, default=200, help="requests of each policy")
    parser.add_argument("--note", action="append", default=[], help="a paragraph for the page")
    parser.add_argument("--page-only", action="store_true", help="measure nothing; write the page of what was kept")
    parser.add_argument("--out", help="folder for the page and the results; else docs/ and beside the benchmark")
    options = parser.parse_args()
    options.shape = options.shape or ["llama-3.1-8b", "llama-3.2-1b"]
    options.said = re.sub(r"--(out|note) \S+ ?", "", " ".join(sys.argv[1:])).strip()
    return options


if __name__ == "__main__":
    sys.exit(main())
