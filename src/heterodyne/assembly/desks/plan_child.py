"""The process that answers one question of the planner.

Run as `python -m heterodyne.assembly.desks.plan_child` by the supervisor.
"""

from heterodyne.assembly.desks.child_answer import answer_once
from heterodyne.assembly.desks.plan_answers import HardwareOrder, MixOrder, hardware_answer, mix_answer
from heterodyne.assembly.desks.purchase import PurchaseOrder, cheapest_addition

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
    answer_once(Order, work)  # type: ignore[arg-type]  # a union of kinds is no kind to the type checker
