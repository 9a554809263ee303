"""However a request ends, it is counted once, under the model it meant and in one vocabulary of outcomes."""

import asyncio
from pathlib import Path

import pytest

from heterodyne.domain.tenant import Limits, Scopes
from heterodyne.telemetry import metrics
from heterodyne.testing import behaviours
from tests.support.gateways import Rig, gateway_over
from tests.support.minutes import wait_for_room
from tests.support.raw_client import ask
from tests.support.requests import MODEL, chat, get, post
from tests.support.tenants import bearer, caller, tenants

KEY = bearer("key")
LABELS = metrics.requests.labels
Counted = dict[tuple[str, str, str, str], float]  # by model, operation, reason and outcome


def counted() -> Counted:
    places = [LABELS.index(name) for name in ("model", "operation", "reason", "outcome")]
    sums: Counted = {}
    for sample in metrics.requests.samples():
        model, operation, reason, outcome = (sample.labels[place] for place in places)
        key = (model, operation, reason, outcome)
        sums[key] = sums.get(key, 0.0) + sample.values[0]
    return sums


async def gained(rig: Rig, before: Counted, *, within_s: float = 10.0, enough: int = 1) -> Counted:
    """What was counted since, once it is at least so much."""
    async with asyncio.timeout(within_s):
        while True:
            assert (await ask(rig.port, get("/metrics"))).status == 200
            more = {key: value - before.get(key, 0.0) for key, value in counted().items()}
            more = {key: value for key, value in more.items() if value}
            if sum(more.values()) >= enough:
                return more
            await asyncio.sleep(0.02)


async def test_refusals_of_admission_are_counted_in_requests_total(tmp_path: Path) -> None:
    wait_for_room(5.0)
    callers = tenants(key=caller(limits=Limits(requests_per_minute=1)))
    async with gateway_over(behaviours.answer(), tenants=callers, records=tmp_path / "records") as rig:
        before = counted()
        assert (await ask(rig.port, chat(KEY))).status == 200
        assert (await ask(rig.port, chat(KEY))).status == 429
        assert (await ask(rig.port, chat())).status == 401
        assert (await ask(rig.port, post("/v1/chat/completions", b"{", KEY))).status == 400
        assert await gained(rig, before, enough=4) == {
            (MODEL, "chat", "", "ok"): 1,
            (MODEL, "chat", "rate_limit_exceeded", "refused_limit"): 1,
            ("", "refused", "invalid_api_key", "client_error"): 1,
            ("", "refused", "invalid_json", "client_error"): 1,
        }


async def test_a_refusal_takes_no_time_and_no_tokens(tmp_path: Path) -> None:
    callers = tenants(key=caller(limits=Limits(requests_per_minute=0)))
    async with gateway_over(behaviours.answer(), tenants=callers, records=tmp_path / "records") as rig:
        before, timed = counted(), [sum(one.values) for one in metrics.duration.samples()]
        assert (await ask(rig.port, chat(KEY))).status == 429
        await gained(rig, before)
        assert [sum(one.values) for one in metrics.duration.samples()] == timed


async def test_a_model_without_replicas_is_refused_under_its_own_name(tmp_path: Path) -> None:
    async with gateway_over(behaviours.answer(), model={"aliases": ("default",)}, records=tmp_path / "records") as rig:
        await rig.engine.close()
        before = counted()
        async with asyncio.timeout(20):
            while True:
                answer = await ask(rig.port, chat(model="default"))
                assert answer.status >= 500
                if "is ready" in answer.error["message"]:
                    break
                await asyncio.sleep(0.05)
        more = await gained(rig, before)
        assert {model for model, *_ in more} == {MODEL}
        assert more[MODEL, "chat", "engine_unavailable", "engine_error"] >= 1
        async with asyncio.timeout(30):
            while not (refused := [one for one in rig.records() if not one.pool]):
                await asyncio.sleep(0.02)
        last = refused[-1]
        assert (last.model, last.asked_model, last.reason) == (MODEL, "default", "engine_unavailable")


@pytest.mark.parametrize(
    ("scopes", "status"), [(Scopes(output_tokens_max=50), 403), (Scopes(), 400)], ids=["scopes", "context"]
)
async def test_an_alias_is_booked_as_the_model_it_means_also_where_it_is_refused(
    scopes: Scopes, status: int, tmp_path: Path
) -> None:
    callers = tenants(key=caller(scopes=(scopes,)))
    pool, model, records = {"context_tokens": 100}, {"aliases": ("default",)}, tmp_path / "records"
    async with gateway_over(behaviours.answer(), tenants=callers, pool=pool, model=model, records=records) as rig:
        before = counted()
        assert (await ask(rig.port, chat(KEY, model="default", max_tokens=1000))).status == status
        (key,) = await gained(rig, before)
        assert (key[0], key[3]) == (MODEL, "client_error")
        (record,) = await rig.wait_records(1)
        assert (record.model, record.asked_model, record.status) == (MODEL, "default", status)


async def test_names_that_clients_make_up_become_no_label_and_no_row(tmp_path: Path) -> None:
    async with gateway_over(behaviours.answer(), records=tmp_path / "records") as rig:
        before = counted()
        for number in range(20):
            assert (await ask(rig.port, chat(model=f"made-up-{number}"))).status == 404
        assert await gained(rig, before, enough=20) == {("", "chat", "model_not_found", "client_error"): 20}
        records = await rig.wait_records(20)
        assert {record.model for record in records} == {""}
        assert records[0].asked_model == "made-up-0", "the log says what was asked for"


@pytest.mark.parametrize(("status", "promise"), [(400, ""), (422, ""), (502, "broken")])
async def test_a_clients_400_is_no_broken_promise_and_an_engines_500_is(
    status: int, promise: str, tmp_path: Path
) -> None:
    behaviour, slo = behaviours.refuse(status), "x-heterodyne-slo-ttft-ms: 60000"
    async with gateway_over(behaviour, records=tmp_path / "records") as rig:
        assert (await ask(rig.port, chat(slo))).status == status
        (record,) = await rig.wait_records(1)
        assert (record.status, record.promise, record.pool) == (status, promise, "pool")
