"""How often the gate stops a sound build: small models of every family with other weights each time, in eight bits.

python -m tests.support.judged_models 200
"""

import shutil
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from heterodyne.parity.limits import breaches_of, limits_of
from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf
from heterodyne.registry.families.catalogue import BY_MODEL_TYPE
from heterodyne.registry.parity.judge import bench_for, measure
from heterodyne.registry.parity.llamacpp_process import running_llamacpp
from heterodyne.registry.parity.llamacpp_scorer import LlamaCppScorer
from tests.support.tiny_models import tiny_model

PRECISION = "q8_0"


def main(runs: int) -> None:
    kinds, stopped = list(BY_MODEL_TYPE), 0
    with tempfile.TemporaryDirectory() as room:
        for number in range(runs):
            kind, folder = kinds[number % len(kinds)], Path(room) / "model"
            bench = bench_for(tiny_model(folder, kind, seed=1000 + number))
            safetensors_to_gguf(folder, Path(room) / "model.gguf", PRECISION)
            with running_llamacpp(Path(room) / "model.gguf") as url, closing(LlamaCppScorer(url)) as scorer:
                measured = measure(bench, scorer, PRECISION)
            breaches = breaches_of(measured, limits_of(PRECISION))
            stopped += bool(breaches)
            print(number, kind, f"KL {measured.kl_nats:.5f} top-1 {measured.top1_agreement:.3f}", *breaches, flush=True)
            shutil.rmtree(folder)
            (Path(room) / "model.gguf").unlink()
    print(f"{stopped} of {runs} sound builds were stopped")


if __name__ == "__main__":
    main(int(sys.argv[1]))
