"""Traces as a collector receives them: what became of a request, where, and how long each step took."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes, http_attributes
from opentelemetry.semconv.attributes import error_attributes, server_attributes

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.assembly.gateway import running_gateway
from heterodyne.config.settings import Settings
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.tenant import Limits, TenantSnapshot
from heterodyne.domain.urgency import Tier
from heterodyne.emulator.faults import Faults, Garble
from heterodyne.emulator.server import EmulatorServer
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.routing.settings import RoutingSettings
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, ScriptedEngine
from tests.support.emulators import order
from tests.support.gateways import Rig
from tests.support.otlp_collector import CLIENT, ERROR, SERVER, UNSET, Collector, SpanSeen, collecting
from tests.support.raw_client import ask, connected
from tests.support.requests import MODEL, chat, get, post
from tests.support.tenants import bearer, caller, tenants
from tests.support.turnstile import Turnstile

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED, UNSAMPLED = (f"traceparent: 00-{TRACE}-{PARENT}-{flags}" for flags in ("01", "00"))
PROMPT = "a word that nobody else says: abracadabra"
LLAMA = "llama-3.1-8b"
READY_S = 5.0
NAMES = {
    value
    for module in (gen_ai_attributes, http_attributes, error_attributes, server_attributes)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, str)
}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as one:
        yield one


@asynccontextmanager
async def traced(
    collector: Collector | None,
    *urls: str,
    pool: dict[str, Any] | None = None,
    admission: dict[str, Any] | None = None,
    routing: dict[str, Any] | None = None,
    model: dict[str, Any] | None = None,
    tenants: TenantSnapshot | None = None,
    records: Path | None = None,
    **telemetry: Any,
) -> AsyncIterator[Rig]:
    """A gateway over replicas at these addresses. When it has closed, everything has been sent to the collector."""
    served = {"model": MODEL, "urls": urls, **(pool or {})}
    telemetry = {"traces_url": collector.url if collector else "", "traces_sample_ratio": 1.0, **telemetry}
    settings = Settings(
        gateway=GatewaySettings(port=0),
        admission=AdmissionSettings(**(admission or {})),
        routing=RoutingSettings(**(routing or {})),
        models={served["model"]: ModelSettings(**model)} if model else {},
        telemetry=TelemetrySettings(records=str(records) if records else "off", log_level="error", **telemetry),
        pools={"pool": PoolSettings(**served)},
    )
    async with running_gateway(
        settings, remote_replicas(settings), rules=model_rules(settings), tenants=tenants
    ) as running:
        rig = Rig(running, (), records)
        async with asyncio.timeout(READY_S):
            while rig.holds().replicas_takeable < len(urls):
                await asyncio.sleep(0.005)
        yield rig


@asynccontextmanager
async def scripted(*behaviours: Behaviour) -> AsyncIterator[tuple[ScriptedEngine, ...]]:
    async with AsyncExitStack() as stack:
        yield tuple([await stack.enter_async_context(ScriptedEngine(one)) for one in behaviours])


@asynccontextmanager
async def emulated(*faults: Faults) -> AsyncIterator[list[EmulatorServer]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(EmulatorServer(order(), faults=one)) for one in faults]


def ask_llama(**fields: Any) -> bytes:
    return chat(**{"model": LLAMA, "messages": [{"role": "user", "content": PROMPT}], "stream": True, **fields})


def said(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": PROMPT}], **fields}


def attempts(trace: list[SpanSeen]) -> list[SpanSeen]:
    return [span for span in trace if span.kind == CLIENT]


def below(trace: list[SpanSeen], parent: SpanSeen) -> list[str]:
    return [span.name for span in trace if span.parent_id == parent.span_id]


def check(collector: Collector) -> None:
    """Whatever a trace is about: its spans hang together and nest, its names are the conventions', its words ours."""
    assert collector.traces
    for root, *others in collector.traces:
        assert root.kind == SERVER
        by_id = {span.span_id: span for span in (root, *others)}
        assert len(by_id) == 1 + len(others)
        for span in others:
            parent = by_id[span.parent_id]
            assert parent.start_ns <= span.start_ns <= span.end_ns <= parent.end_ns, (span.name, parent.name)
    used = {name for span in collector.spans for name in span.attributes}
    assert {name for name in used if not name.startswith("heterodyne.")} <= NAMES
    for body in collector.bodies:
        for word in (b"abracadabra", b"hello", b"key_acme"):
            assert word not in body


async def ask_until(rig: Rig, request: bytes, is_seen: Callable[[RequestRecord], int]) -> None:
    """Equal replicas are drawn by chance: ask until a record shows what is to be seen."""
    async with asyncio.timeout(20), connected(rig.port) as client:
        while not any(map(is_seen, rig.records())):
            assert (await client.ask(request)).status == 200


async def wait_waiting(rig: Rig) -> None:
    """Until one waits for its turn, as the metrics have it."""
    depth = re.compile(rb'^heterodyne_admission_queue_depth{[^}]*model="%b"[^}]*} 1' % MODEL.encode(), re.MULTILINE)
    async with asyncio.timeout(READY_S):
        while not depth.search((await ask(rig.port, get("/metrics"))).body):
            await asyncio.sleep(0.005)


async def test_a_stream_is_a_trace_from_its_client_to_the_engine(collector: Collector, tmp_path: Path) -> None:
    async with scripted(behaviours.stream(4, delay_s=0.01)) as (engine,):
        callers = tenants(key=caller(tier=Tier.GOLD))
        async with traced(collector, engine.url, tenants=callers, records=tmp_path / "records") as rig:
            headers = (bearer("key"), SAMPLED, "tracestate: vendor=1")
            answer = await ask(rig.port, chat(*headers, **said(stream=True, max_tokens=9)))
            (record,) = await rig.wait_records(1)
        told = engine.calls[0].headers
    assert answer.status == 200
    check(collector)
    (trace,) = collector.traces
    root = trace[0]
    assert (root.name, root.trace_id, root.parent_id, root.state) == (f"chat {MODEL}", TRACE, PARENT, "vendor=1")
    assert root.status == UNSET
    assert below(trace, root) == ["decide", f"chat {MODEL}"]
    (attempt,) = attempts(trace)
    assert below(trace, attempt) == ["connect", "first token", "stream"]
    assert told["traceparent"] == f"00-{TRACE}-{attempt.span_id}-01"
    assert told["tracestate"] == "vendor=1"
    assert (
        root.attributes.items()
        >= {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "heterodyne",
            "gen_ai.request.model": MODEL,
            "gen_ai.response.model": MODEL,
            "gen_ai.request.stream": True,
            "gen_ai.request.max_tokens": 9,
            "gen_ai.usage.input_tokens": 7,
            "gen_ai.usage.output_tokens": 4,
            "http.response.status_code": 200,
            "server.address": "127.0.0.1",
            "heterodyne.request_id": answer.headers["x-request-id"],
            "heterodyne.replica": answer.headers["x-heterodyne-replica"],
            "heterodyne.pool": "pool",
            "heterodyne.tenant": "acme/search",
            "heterodyne.tier": "gold",
            "heterodyne.class": "interactive",
            "heterodyne.decision": record.decision,
            "heterodyne.kept": "sampled",
        }.items()
    )
    assert 0 < root.attributes["gen_ai.response.time_to_first_chunk"] < (root.end_ns - root.start_ns) / 1e9
    assert (
        attempt.attributes.items()
        >= {
            "gen_ai.provider.name": "openai",
            "server.address": "127.0.0.1",
            "server.port": engine.port,
            "http.response.status_code": 200,
        }.items()
    )
    assert "gen_ai.usage.output_tokens" not in attempt.attributes, "tokens are told once"
    assert record.trace == TRACE
    assert collector.resource["service.name"] == "heterodyne"


async def test_a_whole_answer_without_a_parent_begins_a_trace(collector: Collector, tmp_path: Path) -> None:
    async with (
        scripted(behaviours.answer()) as (engine,),
        traced(collector, engine.url, records=tmp_path / "records") as rig,
    ):
        assert (await ask(rig.port, chat("traceparent: nonsense", **said()))).status == 200
        (record,) = await rig.wait_records(1)
    check(collector)
    (trace,) = collector.traces
    assert (trace[0].parent_id, trace[0].trace_id) == ("", record.trace)
    (attempt,) = attempts(trace)
    assert below(trace, attempt) == ["connect", "answer"]
    assert engine.calls[0].headers["traceparent"] == f"00-{record.trace}-{attempt.span_id}-01"
    assert "tracestate" not in engine.calls[0].headers
    assert "gen_ai.response.time_to_first_chunk" not in trace[0].attributes


async def test_other_operations_have_their_own_names(collector: Collector) -> None:
    async with scripted(behaviours.answer()) as (engine,), traced(collector, engine.url) as rig:
        await ask(rig.port, post("/v1/completions", b'{"model": "scripted", "prompt": "abracadabra"}'))
    check(collector)
    assert collector.traces[0][0].name == f"text_completion {MODEL}"


async def test_a_replica_that_nobody_reaches_is_a_failed_attempt(collector: Collector, tmp_path: Path) -> None:
    kept = {"traces_sample_ratio": 0.0, "traces_slow_ms": 0.0}
    async with (
        scripted(behaviours.answer(), behaviours.answer()) as (dead, alive),
        traced(collector, dead.url, alive.url, records=tmp_path / "records", **kept) as rig,
    ):
        await dead.close()
        await ask_until(rig, chat(**said()), lambda record: record.retries)
    check(collector)
    trace = collector.traces[0]
    root, (failed, answered) = trace[0], attempts(trace)
    assert root.status == UNSET
    assert root.attributes["heterodyne.kept"] == "retried"
    assert root.attributes["heterodyne.retries"] == 1
    assert [name for name, _ in root.events] == ["retry"]
    assert (failed.status, failed.attributes["error.type"]) == (ERROR, "connect_failed")
    assert failed.attributes["server.port"] == dead.port
    assert (answered.status, answered.attributes["heterodyne.attempt.role"]) == (UNSET, "retry")
    assert failed.end_ns <= answered.start_ns


async def test_a_stream_that_goes_on_elsewhere_is_one_trace(collector: Collector, tmp_path: Path) -> None:
    broken = Faults(garble=Garble.CUT, garble_after_tokens=5, garble_share=1.0)
    async with emulated(broken, Faults()) as servers:
        urls = [server.url for server in servers]
        pool = {"model": LLAMA, "engine": "vllm"}
        async with traced(
            collector, *urls, pool=pool, records=tmp_path / "records", traces_sample_ratio=0.0, traces_slow_ms=0.0
        ) as rig:
            await ask_until(rig, ask_llama(), lambda record: record.continuations)
    check(collector)
    trace = collector.traces[0]
    root, (first, second) = trace[0], attempts(trace)
    assert root.status == UNSET
    assert root.attributes["heterodyne.continuations"] == 1
    assert [name for name, _ in root.events] == ["continuation"]
    assert (first.status, first.attributes["error.type"]) == (ERROR, "broke")
    assert below(trace, first) == below(trace, second) == ["connect", "first token", "stream"]
    assert (second.links, second.attributes["heterodyne.attempt.role"]) == ([first.span_id], "continuation")
    assert root.attributes["heterodyne.replica"] == second.attributes["heterodyne.replica"]
    assert root.attributes["gen_ai.usage.output_tokens"] > 5


async def test_the_loser_of_a_hedge_is_cancelled_and_not_failed(collector: Collector, tmp_path: Path) -> None:
    async with emulated(Faults(), Faults()) as servers:
        urls = [server.url for server in servers]
        pool, generous = {"model": LLAMA, "engine": "vllm"}, {"hedge_share": 0.5}
        async with traced(
            collector, *urls, pool=pool, routing=generous, records=tmp_path / "records", traces_per_second_max=1000.0
        ) as rig:
            async with connected(rig.port) as client:
                for _ in range(60):
                    await client.ask(ask_llama(max_tokens=1))
            servers[0].engine.set_faults(Faults(stall=True))
            await ask_until(rig, ask_llama(max_tokens=3), lambda record: record.is_hedged)
    check(collector)
    trace = next(trace for trace in collector.traces if trace[0].attributes.get("heterodyne.is_hedged"))
    late, rival = attempts(trace)
    outcomes = {one.attributes["heterodyne.attempt.outcome"] for one in (late, rival)}
    assert outcomes == {"success", "cancelled"}, "whoever was first"
    assert (late.status, rival.status) == (UNSET, UNSET)
    assert rival.attributes["heterodyne.attempt.role"] == "hedge"
    assert late.start_ns < rival.start_ns < late.end_ns
    assert [name for name, _ in trace[0].events] == ["hedge"]


async def test_what_nobody_understands_is_one_span(collector: Collector) -> None:
    async with scripted(behaviours.answer()) as (engine,), traced(collector, engine.url) as rig:
        unknown = await ask(rig.port, chat(SAMPLED, **said(model="abracadabra")))
        await ask(rig.port, get("/nowhere/abracadabra"))
    check(collector)
    (refused,), (lost,) = collector.traces
    assert (refused.name, refused.parent_id) == ("POST /v1/chat/completions", PARENT)
    assert (refused.status, refused.attributes["error.type"]) == (UNSET, "model_not_found"), "4xx: no fault of ours"
    assert refused.attributes["http.response.status_code"] == 404
    assert refused.attributes["heterodyne.request_id"] == unknown.headers["x-request-id"]
    assert (lost.name, lost.attributes["error.type"]) == ("GET", "unknown_path")


async def test_strangers_cannot_have_their_traces_kept(collector: Collector) -> None:
    callers = tenants(key=caller())
    async with (
        scripted(behaviours.answer()) as (engine,),
        traced(collector, engine.url, tenants=callers, traces_sample_ratio=0.0) as rig,
    ):
        assert (await ask(rig.port, chat(SAMPLED, bearer("wrong"), **said()))).status == 401
        assert (await ask(rig.port, chat(SAMPLED, bearer("key"), **said()))).status == 200
    check(collector)
    assert [trace[0].attributes["http.response.status_code"] for trace in collector.traces] == [200]


async def test_a_limit_that_is_reached_is_one_span(collector: Collector, tmp_path: Path) -> None:
    callers = tenants(key=caller(limits=Limits(requests_per_day=1)))
    async with (
        scripted(behaviours.answer()) as (engine,),
        traced(collector, engine.url, tenants=callers, records=tmp_path / "records") as rig,
    ):
        assert [(await ask(rig.port, chat(bearer("key"), **said()))).status for _ in range(2)] == [200, 429]
        records = await rig.wait_records(2)
    check(collector)
    refused = next(trace for trace in collector.traces if trace[0].attributes["http.response.status_code"] == 429)
    assert [span.name for span in refused] == [f"chat {MODEL}"]
    assert refused[0].attributes["error.type"] == "rate_limit_exceeded"
    assert refused[0].attributes["heterodyne.tenant"] == "acme/search"
    assert refused[0].trace_id in {record.trace for record in records}


async def test_a_wait_is_a_span_whether_it_ends_well_or_not(collector: Collector) -> None:
    turnstile = Turnstile()
    async with scripted(turnstile) as (engine,), traced(collector, engine.url, pool={"in_flight_max": 1}) as rig:
        first = asyncio.create_task(ask(rig.port, chat(**said())))
        await turnstile.wait_came(1)
        late = await ask(rig.port, chat("x-heterodyne-deadline-ms: 300", **said()))
        second = asyncio.create_task(ask(rig.port, chat(**said())))
        await wait_waiting(rig)
        turnstile.let(2)
        assert [(await one).status for one in (first, second)] == [200, 200]
    check(collector)
    assert late.status in (503, 504)
    waited = [trace for trace in collector.traces if "wait" in [span.name for span in trace]]
    refused = next(trace for trace in waited if trace[0].status == ERROR)
    assert [span.name for span in refused] == [f"chat {MODEL}", "decide", "wait"]
    assert refused[0].attributes["error.type"] == late.error["code"]
    answered = next(trace for trace in waited if trace[0].status == UNSET)
    assert below(answered, answered[0]) == ["decide", "wait", f"chat {MODEL}"]
    wait = next(span for span in answered if span.name == "wait")
    assert wait.attributes["heterodyne.queue"] == MODEL
    assert wait.end_ns <= attempts(answered)[0].start_ns


async def test_a_request_that_would_be_late_is_refused_in_one_span(collector: Collector) -> None:
    turnstile = Turnstile()
    callers = tenants(gold=caller(tier=Tier.GOLD))
    async with (
        scripted(turnstile) as (engine,),
        traced(
            collector,
            engine.url,
            pool={"in_flight_max": 1},
            model={"slo_ttft_ms": 1500.0},
            tenants=callers,
            traces_sample_ratio=0.0,
            traces_slow_ms=0.0,
        ) as rig,
    ):
        asked = [asyncio.create_task(ask(rig.port, chat(bearer("gold"), **said())))]
        await turnstile.wait_came(1)
        asked += [asyncio.create_task(ask(rig.port, chat(bearer("gold"), **said()))) for _ in range(40)]
        async with asyncio.timeout(30):
            while not any(one.done() for one in asked):
                await asyncio.sleep(0.005)
        turnstile.let(41)
        answers = await asyncio.gather(*asked)
    check(collector)
    assert len(collector.traces) == sum(answer.status == 503 for answer in answers) > 0, "errors and nothing else"
    assert {trace[0].attributes["error.type"] for trace in collector.traces} == {"not_in_time"}
    assert {trace[0].attributes["heterodyne.kept"] for trace in collector.traces} == {"error"}


async def test_of_those_not_sampled_the_failed_and_the_slow_are_kept(collector: Collector) -> None:
    async with (
        scripted(behaviours.stream(2)) as (engine,),
        traced(collector, engine.url, traces_sample_ratio=0.0, traces_slow_ms=1000.0) as rig,
    ):
        for headers in ((), (UNSAMPLED,)):
            assert (await ask(rig.port, chat(*headers, **said(stream=True)))).status == 200
            assert engine.calls[-1].headers["traceparent"].endswith("-00")
        engine.behaviour = behaviours.answer(delay_s=1.1)
        assert (await ask(rig.port, chat(**said()))).status == 200
        engine.behaviour = behaviours.refuse(500)
        assert (await ask(rig.port, chat(**said()))).status >= 500
    check(collector)
    assert [trace[0].attributes["heterodyne.kept"] for trace in collector.traces] == ["slow", "error"]
    assert collector.traces[1][0].status == ERROR


async def test_a_client_that_leaves_is_no_error(collector: Collector, tmp_path: Path) -> None:
    turnstile = Turnstile()
    async with scripted(turnstile) as (engine,), traced(collector, engine.url, records=tmp_path / "records") as rig:
        async with connected(rig.port) as client:
            await client.send(chat(**said(stream=True)))
            await turnstile.wait_came(1)
            client.leave()
        await rig.wait_records(1)
    check(collector)
    root, (attempt,) = collector.traces[0][0], attempts(collector.traces[0])
    assert (root.status, root.attributes["error.type"]) == (UNSET, "client_gone")
    assert (attempt.status, attempt.attributes["heterodyne.attempt.outcome"]) == (UNSET, "cancelled")


async def test_no_more_traces_are_kept_in_a_second_than_may_be(collector: Collector) -> None:
    async with (
        scripted(behaviours.answer()) as (engine,),
        traced(collector, engine.url, traces_per_second_max=1.0) as rig,
    ):
        answers = await asyncio.gather(*(ask(rig.port, chat(**said())) for _ in range(10)))
    assert {answer.status for answer in answers} == {200}
    assert len(collector.traces) < 10


async def test_where_nobody_is_traced_engines_are_told_of_no_trace(tmp_path: Path) -> None:
    async with (
        scripted(behaviours.answer()) as (engine,),
        traced(None, engine.url, records=tmp_path / "records") as rig,
    ):
        assert (await ask(rig.port, chat(SAMPLED, "tracestate: vendor=1", **said()))).status == 200
        (record,) = await rig.wait_records(1)
    assert not {"traceparent", "tracestate"} & set(engine.calls[0].headers)
    assert record.trace == ""


async def test_a_collector_that_is_not_there_costs_no_answer() -> None:
    with collecting() as gone:
        pass
    async with scripted(behaviours.stream(2)) as (engine,), traced(gone, engine.url) as rig:
        assert (await ask(rig.port, chat(**said(stream=True)))).status == 200
