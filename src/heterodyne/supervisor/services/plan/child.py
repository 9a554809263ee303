"""The process that answers one question of the planner.

Run as `python -m heterodyne.supervisor.services.plan.child` by the supervisor.
"""

from heterodyne.supervisor.services.capacity.purchase import PurchaseOrder, cheapest_addition
from heterodyne.supervisor.services.child_main import run_once
from heterodyne.supervisor.services.plan.answers import HardwareOrder, MixOrder, hardware_answer, mix_answer

Order = HardwareOrder | MixOrder | PurchaseOrder


def work(order: Order) -> object:
    """Its answer, fit for JSON."""
    match order:
        case HardwareOrder():
            return hardware_answer(order)
        case MixOrder():
            return mix_answer(order)
        case PurchaseOrder():
            return cheapest_addition(order)


if __name__ == "__main__":
    run_once(Order, work)  # type: ignore[arg-type]  # a union of kinds is no kind to the type checker
