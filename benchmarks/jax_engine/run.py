"""`make bench-jax-engine`: the JAX engine on what is here, a line of JSON for each thing measured."""

import argparse
import json
import sys

import jax

from benchmarks.jax_engine.same_tokens import same_tokens
from benchmarks.jax_engine.served import Load, served
from benchmarks.jax_engine.steps import chunks, steps
from heterodyne.jax_engine.programs import DecoderPrograms
from heterodyne.jax_engine.shapes import shape_named
from heterodyne.jax_engine.weights import random_weights

PARTS = ("steps", "same", "served")


def main() -> int:
    """Print what was measured."""
    options = _options()
    shape = shape_named(options.shape)
    if "served" in options.parts:  # first, for a process that has a device keeps its memory
        clients = max(options.slots)
        load = Load(clients, options.rounds * clients, options.prompt, options.answer, shape.vocabulary)
        for measured in served(options.shape, load):
            _tell(measured)
    device = jax.devices()[0]
    _tell({"what": "machine", "jax": jax.__version__, "device": device.device_kind})
    if "steps" in options.parts:
        programs = DecoderPrograms(shape, random_weights(shape, "bf16"))
        for slots in options.slots:
            for measured in steps(programs, slots, options.context, options.memory_tb_per_s * 1e12):
                _tell(measured)
        _tell(chunks(programs, max(options.slots), options.context, options.tflop_per_s * 1e12))
        del programs
    if "same" in options.parts:
        _tell(same_tokens(options.same_shape, options.prompts))
    return 0


def _tell(measured: dict[str, object]) -> None:
    print(json.dumps(measured), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--shape", default="llama-3.1-8b", help="of the steps and of what is served")
    parser.add_argument("--slots", type=int, nargs="+", default=[1, 8, 64], help="the most of them are served")
    parser.add_argument("--context", type=int, default=1024, help="places of each slot that steps read")
    parser.add_argument("--prompt", type=int, default=500, help="tokens of a served prompt")
    parser.add_argument("--answer", type=int, default=100, help="tokens of a served answer")
    parser.add_argument("--rounds", type=int, default=4, help="requests of each client")
    parser.add_argument("--same-shape", default="smollm2-135m", help="compared with the CPU")
    parser.add_argument("--prompts", type=int, default=64, help="compared with the CPU")
    parser.add_argument("--memory-tb-per-s", type=float, default=4.8, help="of the device; 4.8 is an H200")
    parser.add_argument("--tflop-per-s", type=float, default=989, help="in bf16; 989 is an H200")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
