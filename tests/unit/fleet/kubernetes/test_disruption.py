"""Budgets are asked at the smaller count: what stays healthy must be what they keep of that."""

import msgspec
import pytest

from heterodyne.fleet.kubernetes.disruption import against_shrinking
from heterodyne.fleet.kubernetes.objects import DisruptionBudget, Pod
from tests.support.kubernetes import objects
from tests.support.kubernetes.store import Json


def pods(ready: int, unready: int = 0) -> list[Pod]:
    made = [objects.pod(f"p{number}", ready=number < ready) for number in range(ready + unready)]
    return msgspec.convert(made, list[Pod])


def says_no(spec: Json, those: list[Pod], count: int) -> bool:
    selected = {"selector": {"matchLabels": objects.LABELS}, **spec}
    budget = msgspec.convert({"metadata": {"name": "b", "namespace": "llm"}, "spec": selected}, DisruptionBudget)
    return against_shrinking([budget], those, count) is not None


@pytest.mark.parametrize(
    ("spec", "ready", "unready", "count", "is_refused"),
    [
        ({"minAvailable": 2}, 3, 0, 2, False),
        ({"minAvailable": 2}, 3, 0, 1, True),
        ({"minAvailable": "50%"}, 4, 0, 2, False),
        ({"maxUnavailable": 1}, 4, 0, 1, False),  # one of one may be away
        ({"maxUnavailable": 1}, 2, 3, 4, True),  # three of four would be, as they are
        ({"maxUnavailable": 0}, 3, 0, 2, False),  # the two that stay are healthy
        ({"maxUnavailable": 0}, 2, 2, 3, True),
        ({"maxUnavailable": 0}, 3, 1, 3, False),  # the one that is not ready goes first
        ({"maxUnavailable": "34%"}, 2, 1, 3, False),
        ({"minAvailable": 1}, 1, 0, 0, True),
        ({}, 3, 0, 0, False),
    ],
)
def test_what_a_budget_lets_go(spec: Json, ready: int, unready: int, count: int, is_refused: bool) -> None:
    assert says_no(spec, pods(ready, unready), count) is is_refused


@pytest.mark.parametrize(
    ("selector", "is_meant"),
    [
        ({}, True),
        ({"matchLabels": {"app": "other"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["vllm-chat"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["vllm-chat"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        (None, False),
    ],
)
def test_a_budget_of_other_pods_says_nothing(selector: Json | None, is_meant: bool) -> None:
    assert says_no({"selector": selector, "minAvailable": 3}, pods(3), 1) is is_meant
