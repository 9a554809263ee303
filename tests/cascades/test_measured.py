"""What a cascade costs and takes beside the big model alone, and how often the big one would have said otherwise."""

from pathlib import Path

import pytest

from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import Counter
from heterodyne.testing.behaviours import chat_answer, refuse
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.cascades.test_cheap_first import MODEL_RULE, big, question, small
from tests.support.cascades import ALIAS, CHEAP, EASY, HARD, fitted_file
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL

PRICED = {"price_usd_per_million_prompt_tokens": 1000.0, "price_usd_per_million_completion_tokens": 1000.0}


class Grown:
    """How much metrics of the cascade have grown; those of a process are of all its tests together."""

    def __init__(self, meter: Counter) -> None:
        self._meter = meter
        self._before = {sample.labels: sample.values[0] for sample in meter.samples()}

    def __call__(self, label: str) -> float:
        return self._meter.cell((ALIAS, label))[0] - self._before.get((ALIAS, label), 0.0)


def over(fitted: Path, big_says: Behaviour = big, beside: dict[str, Behaviour] | None = None, **more: object):
    cascades = {ALIAS: CascadeSettings(fitted=str(fitted), **more)}
    return gateway_over(
        big_says,
        beside={CHEAP: small, **(beside or {})},
        model=MODEL_RULE,
        cascades=cascades,
        pool=PRICED,
        records=fitted.parent / "records",
    )


async def test_dollars_and_seconds_of_what_was_kept_and_of_what_was_escalated(tmp_path) -> None:
    async with over(fitted_file(tmp_path, "structure")) as rig:
        usd, seconds = Grown(metrics.cascade_usd), Grown(metrics.cascade_seconds)
        await ask(rig.port, question(EASY))
        records = {one.cascade: one for one in await rig.wait_records(2)}
        assert set(records) == {"cheap; within_bound", f"tried; {ALIAS}"}
        assert records[f"tried; {ALIAS}"].model == CHEAP
        assert usd("instead") > 0
        assert usd("big") == 0
        instead_s = seconds("instead")
        assert instead_s > 0
        await ask(rig.port, question(HARD))
        records = {one.cascade: one for one in await rig.wait_records(4)}
        escalated = records["big; unusable_answer"]
        assert usd("big") == pytest.approx(escalated.usd)
        assert seconds("instead") == pytest.approx(instead_s + escalated.total_ms / 1000)
        assert seconds("answered") > escalated.total_ms / 1000


async def test_what_the_prompt_decides_has_its_costs_too(tmp_path) -> None:
    async with over(fitted_file(tmp_path)) as rig:
        usd, seconds = Grown(metrics.cascade_usd), Grown(metrics.cascade_seconds)
        await ask(rig.port, question(EASY))
        await rig.wait_records(1)
        assert usd("instead") > 0
        assert seconds("answered") > 0
        assert usd("big") == 0


async def agreeing(call: EngineCall) -> None:
    call.whole(200, chat_answer("From  the small one"))


@pytest.mark.parametrize(
    ("big_says", "judge", "outcome"),
    [
        (agreeing, None, "same"),
        (big, None, "different"),
        (big, "Yes.", "same"),
        (big, "no", "different"),
        (big, "perhaps", "unknown"),
        (refuse(500), None, "unknown"),
    ],
)
async def test_some_of_what_is_kept_is_asked_of_the_big_model_as_well(big_says, judge, outcome, tmp_path) -> None:
    async def judging(call: EngineCall) -> None:
        call.whole(200, chat_answer(judge))

    beside = {"judge": judging} if judge else None
    more = {"judge_model": "judge"} if judge else {}
    async with over(fitted_file(tmp_path, "structure"), big_says, beside, audit_share=1.0, **more) as rig:
        audits = Grown(metrics.cascade_audits)
        answer = await ask(rig.port, question(EASY))
        assert answer.headers["x-heterodyne-cascade"] == "cheap; within_bound"
        await rig.wait(lambda: audits(outcome) == 1)
        assert [call.json["model"] for call in rig.engine.calls] == [MODEL]
        assert sum(map(audits, ("same", "different", "unknown"))) == 1


async def test_without_a_share_nothing_is_asked_again(tmp_path) -> None:
    async with over(fitted_file(tmp_path, "structure")) as rig:
        await ask(rig.port, question(EASY))
        await rig.wait_empty()
        assert rig.engine.calls == []
