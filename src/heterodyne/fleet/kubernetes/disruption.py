"""Pure: whether disruption budgets let a pool shrink.

Who scales down asks no budget's leave as an eviction does, so it is asked here: at the smaller count, as many pods must
stay healthy as the budget keeps of that count.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from heterodyne.fleet.kubernetes.endpoints import is_ready
from heterodyne.fleet.kubernetes.objects import DisruptionBudget, LabelSelector, Pod, SelectorRequirement

SHARE = re.compile(r"(\d+)%")


def against_shrinking(budgets: Iterable[DisruptionBudget], pods: Sequence[Pod], count: int) -> str | None:
    """Which budget says no, in a sentence; None: none does. Pods that are not ready go first."""
    staying = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    ready = sum(map(is_ready, staying))
    healthy = ready - max(0, len(staying) - count - (len(staying) - ready))
    for budget in budgets:
        if not any(_selects(budget.spec.selector, pod.metadata.labels or {}) for pod in staying):
            continue
        wanted = _healthy_min(budget, count)
        if healthy < wanted:
            name = f"{budget.metadata.namespace}/{budget.metadata.name}"
            return f"PodDisruptionBudget {name} keeps {wanted} of {count} pods healthy, and {healthy} would be"
    return None


def _healthy_min(budget: DisruptionBudget, count: int) -> int:
    if budget.spec.min_available is not None:
        return _of(budget.spec.min_available, count)
    if budget.spec.max_unavailable is not None:
        return max(0, count - _of(budget.spec.max_unavailable, count))
    return 0


def _of(said: int | str, count: int) -> int:
    """A number, or a share, which is rounded up as the API does it."""
    if isinstance(said, int):
        return said
    found = SHARE.fullmatch(said)
    return ceil(int(found[1]) * count / 100) if found else 0


def _selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    if selector is None:
        return False
    wanted = (selector.match_labels or {}).items()
    return wanted <= labels.items() and all(_holds(one, labels) for one in selector.match_expressions or ())


def _holds(term: SelectorRequirement, labels: Mapping[str, str]) -> bool:
    if term.operator in ("Exists", "DoesNotExist"):
        return (term.key in labels) == (term.operator == "Exists")
    return (labels.get(term.key) in term.values) == (term.operator == "In")
