"""Why no kind serves requests of a length within the promise: which limit binds, what comes nearest, what to relax."""

from collections.abc import Iterable
from math import ceil

from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.candidate import HardwareCandidate, load_of
from heterodyne.planning.hardware.sustained import Shortfall
from heterodyne.planning.traffic.histogram import Cell


def nearest_miss(laid_out: Iterable[HardwareCandidate], cell: Cell, slo: Slo, *, share: float) -> str:
    """One request alone on each candidate; the one that misses least is named."""
    token_s: dict[str, float] = {}
    first_s: dict[str, float] = {}
    for candidate in laid_out:
        load = load_of(candidate, cell.shape, slo, share=share)
        if isinstance(load, Shortfall) and load.ttft_s is not None and load.itl_s is not None:
            name = f"{candidate.accelerator.name} x{candidate.tp}"
            token_s[name], first_s[name] = load.itl_s, load.ttft_s
    if not token_s:
        return f'Requests of "{cell.name}" fit on no accelerator offered; offer larger ones, or a smaller --precision.'
    fastest = min(token_s, key=token_s.__getitem__)
    if token_s[fastest] > slo.itl_s:
        wait = f"{token_s[fastest] * 1000:.1f} ms between tokens"
        return _late(cell, f"{wait} at best, on {fastest}", slo.itl_s, f"--slo-itl-ms {_above(token_s[fastest])}")
    on_pace = [name for name in token_s if token_s[name] <= slo.itl_s]
    first = min(on_pace, key=first_s.__getitem__)
    wait = f"{first_s[first] * 1000:.0f} ms to the first token"
    return _late(cell, f"{wait} at best, on {first}", slo.ttft_s, f"--slo-ttft-ms {_above(first_s[first])}")


def _late(cell: Cell, wait: str, target_s: float, flag: str) -> str:
    return (
        f'Requests of "{cell.name}" take {wait} with nothing beside them; the target is {target_s * 1000:g} ms. '
        f"Try {flag}, a more patient --class, or faster --hardware."
    )


def _above(seconds: float) -> int:
    """Milliseconds with half as much to spare, so that more than one request at once is within them."""
    return ceil(seconds * 1500)
