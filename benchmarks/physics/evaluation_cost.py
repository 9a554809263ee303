"""What one evaluation of the step model costs this machine."""

import timeit

from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import place
from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import DATASHEET
from heterodyne.physics.step_time import decode_step_s
from heterodyne.physics.work import work

# The least of many short runs: what else runs on the machine does not count.
REPEATS = 300


def measure_costs() -> tuple[float, float, float]:
    """Microseconds of one step, microseconds of one placement, milliseconds of a sweep over 64 candidates."""
    demands = work(model_spec("deepseek-v3"), precision=Precision.FP8, kv_precision=Precision.FP8)
    chips = [accelerator(name) for name in ("h100-sxm", "h200-sxm", "b200-sxm", "mi300x")]
    widths = [Parallelism(tp=tp, pp=pp, ep=ep) for tp in (1, 2, 4, 8) for pp in (1, 2) for ep in (1, 2)]
    candidates = [(chip, width) for chip in chips for width in widths]
    placement = place(demands, accelerator=chips[1], parallelism=widths[-1])

    def step() -> None:
        decode_step_s(placement, DATASHEET, batch=64, context=4096)

    def once() -> None:
        place(demands, accelerator=chips[1], parallelism=widths[-1])

    def sweep() -> None:
        for chip, width in candidates:
            placed = place(demands, accelerator=chip, parallelism=width)
            decode_step_s(placed, DATASHEET, batch=64, context=4096)

    assert len(candidates) == 64
    return (
        min(timeit.repeat(step, number=100, repeat=REPEATS)) / 100 * 1e6,
        min(timeit.repeat(once, number=100, repeat=REPEATS)) / 100 * 1e6,
        min(timeit.repeat(sweep, number=1, repeat=REPEATS)) * 1e3,
    )
