"""By which power of their mean lengths requests take of what replicas carry within the promise: the figures of
`heterodyne.planning.scaling.capacity`, found on the log that capacity is found with and on no load.

python -m benchmarks.scaling.lengths
"""

from math import log

from msgspec import structs

from benchmarks.scaling.fleet import SHARE, TRIAL, capacity_log, pool
from heterodyne.simulator.capacity import capacity_rps
from heterodyne.simulator.capacity_curve import first_of

REPLICAS = (4, 8)
REQUESTS = 4000
HALF, LONGER = 0.5, 1.4


def main() -> None:
    """A line for each size of the pool."""
    for replicas in REPLICAS:
        usual, shorter_answers = _capacity(replicas), _capacity(replicas, answers=HALF)
        shorter = _power(usual, _capacity(replicas, prompts=HALF), HALF)
        # Beside short answers: of long prompts with long answers the promise is out of reach for the longest alone.
        longer = _power(shorter_answers, _capacity(replicas, prompts=LONGER, answers=HALF), LONGER)
        answers = _power(usual, shorter_answers, HALF)
        print(
            f"{replicas} replicas: shorter prompts {shorter:.2f}, longer {longer:.2f}, answers {answers:.2f}",
            flush=True,
        )


def _capacity(replicas: int, *, prompts: float = 1.0, answers: float = 1.0) -> float:
    changed = [
        structs.replace(
            one,
            prompt_tokens=max(1, round(one.prompt_tokens * prompts)),
            output_tokens=max(1, round(one.output_tokens * answers)),
        )
        for one in capacity_log()
    ]
    return capacity_rps((first_of(pool(replicas), replicas),), changed, TRIAL, share=SHARE, requests=REQUESTS)


def _power(before: float, after: float, times: float) -> float:
    return log(before / after) / log(times)


if __name__ == "__main__":
    main()
