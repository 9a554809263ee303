"""`make bench-jax`: a real model as a JAX checkpoint, computed on whatever JAX finds here, beside the reference."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.parity.build_others import built_as
from heterodyne.parity.limits import breaches_of, limits_of
from heterodyne.registry.building.orbax_builder import TO_ORBAX
from heterodyne.registry.conversion.gguf_safetensors import gguf_to_safetensors
from heterodyne.registry.parity.judge import bench_for, measure
from heterodyne.registry.parity.reference_scorer import jax_scorer


def main() -> int:
    """Print what was measured; the exit code says whether it is within the bounds."""
    options = _options()
    import jax  # noqa: PLC0415 - an extra

    device = jax.devices()[0]
    print(f"JAX {jax.__version__} on {device.platform}: {device.device_kind}", flush=True)
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "source"
        gguf_to_safetensors(options.gguf, folder)
        bench = bench_for(folder)
        failed = 0
        for precision in ("fp32", "bf16"):
            target = built_as(TO_ORBAX, precision, folder, Path(room) / precision)
            scorer = jax_scorer(target)
            scorer.scored(bench.texts[0])  # compiled once
            began_s = time.monotonic()
            for tokens in bench.texts:
                scorer.scored(tokens)
            each_ms = 1000 * (time.monotonic() - began_s) / len(bench.texts)
            measures = measure(bench, scorer, precision)
            breaches = breaches_of(measures, limits_of(precision))
            failed += bool(breaches)
            print(f"{precision}: {each_ms:.1f} ms a text, {measures}", *breaches, flush=True)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path, required=True, help="the model, as a GGUF")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
