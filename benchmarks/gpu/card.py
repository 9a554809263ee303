"""What the card does meanwhile, by NVML: how busy it is, and the energy it takes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

EVERY_S = 0.2


class CardUse(Struct, kw_only=True):
    """Over one block; None: nothing here says it."""

    busy_share: float | None = None  # of the time, that any kernel ran
    joules: float | None = None


@contextmanager
def watched() -> Iterator[CardUse]:
    """Filled in when the block ends."""
    use, card = CardUse(), _try_card()
    if card is None:
        yield use
        return
    nvml, handle = card
    samples: list[float] = []
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(EVERY_S):
            samples.append(nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100)

    watcher = threading.Thread(target=watch)
    before_mj = nvml.nvmlDeviceGetTotalEnergyConsumption(handle)
    watcher.start()
    try:
        yield use
    finally:
        is_over.set()
        watcher.join()
        use.joules = (nvml.nvmlDeviceGetTotalEnergyConsumption(handle) - before_mj) / 1000
        use.busy_share = sum(samples) / len(samples) if samples else None


def card_name() -> str:
    """As its maker calls it; empty where there is none."""
    card = _try_card()
    return str(card[0].nvmlDeviceGetName(card[1])) if card else ""


def _try_card() -> tuple[Any, Any] | None:
    try:
        import pynvml  # type: ignore[import-not-found]  # noqa: PLC0415  # only machines with a card have it

        pynvml.nvmlInit()
        return pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
    except Exception:  # noqa: BLE001 - no library, no driver, no card: nothing is said of it
        return None
