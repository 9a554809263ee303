"""A child process that reads its order and does what the order says instead of answering; run with `python -m`."""

import sys
import time

from msgspec import Struct

from heterodyne.domain.errors import PlanImpossible
from heterodyne.supervisor.services.child_main import run_once


class Order(Struct, frozen=True, kw_only=True):
    """What to do, and where to say that it has begun."""

    mood: str
    file: str = ""


def work(order: Order) -> str:
    if order.file:
        with open(order.file, "x", encoding="ascii"):
            pass
    if order.mood == "sleeps":
        time.sleep(60)
    if order.mood == "dies":
        sys.exit(3)
    if order.mood == "refuses":
        raise PlanImpossible("nobody can")
    return order.mood


if __name__ == "__main__":
    run_once(Order, work)
