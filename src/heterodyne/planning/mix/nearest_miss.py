"""Why no kind serves requests of a length within the budget: which limit binds, what comes nearest, what to relax."""

from collections.abc import Iterable
from math import ceil

from heterodyne.physics.serving import Load, ServingEstimate, Slo, serve
from heterodyne.planning.hardware.candidate import HardwareCandidate, try_replica
from heterodyne.planning.traffic.histogram import Cell


def nearest_miss(laid_out: Iterable[HardwareCandidate], cell: Cell, slo: Slo) -> str:
    """One request alone on each candidate; the one that misses least is named."""
    alone: dict[str, ServingEstimate] = {}
    for candidate in laid_out:
        replica = try_replica(candidate, cell.shape)
        if replica is not None:
            load = Load(concurrency=1, prompt_tokens=cell.shape.prompt_tokens, output_tokens=cell.shape.output_tokens)
            alone[f"{candidate.accelerator.name} x{candidate.tp}"] = serve(replica, load)
    if not alone:
        return f'Requests of "{cell.name}" fit on no accelerator offered; offer larger ones, or a smaller --precision.'
    fastest = min(alone, key=lambda name: alone[name].itl_s)
    if alone[fastest].itl_s > slo.itl_s:
        wait = f"{alone[fastest].itl_s * 1000:.1f} ms between tokens"
        return _late(cell, f"{wait} at best, on {fastest}", slo.itl_s, f"--slo-itl-ms {_above(alone[fastest].itl_s)}")
    on_pace = [name for name in alone if alone[name].itl_s <= slo.itl_s]
    first = min(on_pace, key=lambda name: alone[name].ttft_s)
    wait = f"{alone[first].ttft_s * 1000:.0f} ms to the first token"
    return _late(cell, f"{wait} at best, on {first}", slo.ttft_s, f"--slo-ttft-ms {_above(alone[first].ttft_s)}")


def _late(cell: Cell, wait: str, target_s: float, flag: str) -> str:
    return (
        f'Requests of "{cell.name}" take {wait} with nothing beside them; the target is {target_s * 1000:g} ms. '
        f"Try {flag}, a more patient --class, or faster --hardware."
    )


def _above(seconds: float) -> int:
    """Milliseconds with a fifth to spare, so that more than one request at once is within them."""
    return ceil(seconds * 1200)
