"""How patient the callers are, in three classes, and the latency budget each class gets by default."""

from collections.abc import Mapping
from enum import StrEnum

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.serving import Slo


class WorkloadClass(StrEnum):
    """Who waits for the answer."""

    INTERACTIVE = "interactive"  # a person watches the tokens come
    BATCH = "batch"  # a person or a program waits for the whole answer
    BACKGROUND = "background"  # no user waits


# Mean times, as the performance model gives them; the sources speak of the times of nearly all requests.
BUDGETS: Mapping[WorkloadClass, Slo] = {
    # Chat in the use cases of llm-d's planner: first token within 500 ms, 50 ms a token. MLPerf Inference v5.0 asks
    # Llama 2 70B Interactive for 450 ms and 40 ms of 99 in 100 requests.
    WorkloadClass.INTERACTIVE: Slo(ttft_s=0.5, itl_s=0.05),
    # MLPerf Inference's server limits for Llama 2 70B since v4.0: 2 s, and 200 ms a token, the pace of a slow reader.
    WorkloadClass.BATCH: Slo(ttft_s=2.0, itl_s=0.2),
    # MLPerf's offline scenario has no limit at all. This keeps an answer of 1,000 tokens within the ten minutes after
    # which OpenAI's clients give up: 60 s + 1,000 x 0.5 s.
    WorkloadClass.BACKGROUND: Slo(ttft_s=60.0, itl_s=0.5),
}


def budget(workload: WorkloadClass, *, ttft_s: float | None = None, itl_s: float | None = None) -> Slo:
    """The budget of a class, with what was named instead."""
    usual = BUDGETS[workload]
    slo = Slo(ttft_s=usual.ttft_s if ttft_s is None else ttft_s, itl_s=usual.itl_s if itl_s is None else itl_s)
    check_budget(slo)
    return slo


def check_budget(slo: Slo) -> None:
    """Raise `InvalidSpec` for a time that is none."""
    for name in ("ttft_s", "itl_s"):
        seconds = getattr(slo, name)
        if not seconds > 0:
            raise InvalidSpec(f"slo.{name}: {seconds:g} is no target; give a time above zero.")
