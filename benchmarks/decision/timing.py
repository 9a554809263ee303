"""How long a decision takes, where other work shares the machine."""

import time
from collections.abc import Callable


def rounds_us(decide: Callable[[], object], *, rounds: int, round_s: float) -> list[float]:
    """Microseconds a decision, by round; one is long enough to be measured, and short enough to be done between others'
    work."""
    clock = time.perf_counter
    began_s, times = clock(), 0
    while clock() - began_s < round_s:
        decide()
        times += 1
    found = []
    for _ in range(rounds):
        began_s = clock()
        for _ in range(times):
            decide()
        found.append((clock() - began_s) / times * 1e6)
    return found
