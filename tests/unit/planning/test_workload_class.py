"""What the classes of workload promise."""

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.workload_class import BUDGETS, WorkloadClass, budget


def test_every_class_has_a_budget_and_patience_grows() -> None:
    ordered = [BUDGETS[one] for one in WorkloadClass]
    assert [one.ttft_s for one in ordered] == sorted(one.ttft_s for one in ordered)
    assert [one.itl_s for one in ordered] == sorted(one.itl_s for one in ordered)


def test_what_somebody_names_wins_over_the_class() -> None:
    assert budget(WorkloadClass.BATCH, ttft_s=0.3).ttft_s == 0.3
    assert budget(WorkloadClass.BATCH, ttft_s=0.3).itl_s == BUDGETS[WorkloadClass.BATCH].itl_s


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan")])
def test_a_target_that_is_no_time_is_refused_with_its_place(wrong: float) -> None:
    with pytest.raises(InvalidSpec, match=r"slo\.itl_s"):
        budget(WorkloadClass.INTERACTIVE, itl_s=wrong)
