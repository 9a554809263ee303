"""A real Envoy forwards to the replica that the endpoint picker names, whatever becomes of the request."""

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml

from heterodyne.endpoint_picker.server import READINESS
from heterodyne.endpoint_picker.settings import EndpointPickerSettings
from heterodyne.testing import behaviours
from tests.support import envoy, requests
from tests.support.envoy import BUFFERED, DUPLEX, STREAMED, ext_proc, listener, lua, needs_envoy
from tests.support.gateways import gateway_over
from tests.support.pickers import envoy_over, health
from tests.support.raw_client import Answer, ask, connected

pytestmark = needs_envoy

EXAMPLE = Path(__file__).parents[2] / "examples" / "endpoint-picker" / "envoy.yaml"
NONE = "NONE"
REPLICA = "x-heterodyne-replica"


def replica_of(answer: Answer) -> str:
    assert answer.status == 200, answer.body
    assert REPLICA in answer.headers, answer
    return answer.headers[REPLICA]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_answers_pass_whole_in_every_mode_that_picks(stream: bool, tmp_path: Path) -> None:
    modes = [(DUPLEX, DUPLEX), (BUFFERED, STREAMED), (BUFFERED, BUFFERED), (DUPLEX, STREAMED), (BUFFERED, NONE)]
    doors = [listener(f"{one}-{two}", [ext_proc(request_body=one, response_body=two)]) for one, two in modes]
    records = tmp_path / "records"
    engines = [behaviours.answer_everything(), behaviours.answer_everything()]
    async with envoy_over(*engines, listeners=doors, records=records) as (rig, proxy):
        for name, port in proxy.ports.items():
            answer = await ask(port, requests.chat(stream=stream))
            assert replica_of(answer) in {"pool-0", "pool-1"}, name
            words = answer.text if stream else answer.json["choices"][0]["message"]["content"]
            assert words == " hello hello hello", name
        written = await rig.wait_records(len(modes))
        assert {one.status for one in written} == {200}
        watched = [one for one in written if one.response_bytes]
        assert len(watched) == len(modes) - 1, "a proxy that sends no bodies tells no more than a status"
        assert all(one.completion_tokens for one in watched)
        if stream:
            assert all(one.ttft_ms for one in watched)


async def test_a_body_of_many_pieces_reaches_the_engine_as_it_was_sent() -> None:
    text = "long " * 60_000
    async with envoy_over(behaviours.answer_everything()) as (rig, proxy):
        body = requests.chat_body(messages=[{"role": "user", "content": text}])
        assert (await ask(proxy.port, requests.post("/v1/chat/completions", body))).status == 200
        assert rig.engine.calls[-1].body == body


async def test_a_request_goes_to_the_replica_that_has_less_to_do() -> None:
    slow = behaviours.stream(tokens=400, delay_s=0.05)
    async with envoy_over(slow, slow) as (rig, proxy), connected(proxy.port) as client:
        await client.send(requests.chat(stream=True))
        _, headers = await client.head()
        busy = headers[REPLICA]
        rig.engines[0].behaviour = rig.engines[1].behaviour = behaviours.answer()
        others = [replica_of(await ask(proxy.port, requests.chat())) for _ in range(4)]
        assert set(others) == {"pool-0", "pool-1"} - {busy}


async def test_a_prompt_goes_where_its_beginning_was_computed() -> None:
    async with envoy_over(*[behaviours.answer_everything()] * 3, model={"kv": "prefix"}) as (_, proxy):
        homes = set()
        for turn in range(6):
            messages = [{"role": "user", "content": "the same opening " * 400}, {"role": "user", "content": f"{turn}"}]
            homes.add(replica_of(await ask(proxy.port, requests.chat(stream=True, messages=messages))))
        assert len(homes) == 1


async def test_only_endpoints_of_a_subset_are_picked() -> None:
    async with envoy_over(*[behaviours.answer()] * 3) as (rig, proxy):
        for index in (2, 0, 1):
            hint = f"x-test-subset: 10.0.0.1:80,127.0.0.1:{rig.engines[index].port}"
            for _ in range(3):
                assert replica_of(await ask(proxy.port, requests.chat(hint))) == f"pool-{index}"
        none = await ask(proxy.port, requests.chat("x-test-subset: 10.0.0.1:80"))
        assert none.status == 503
        assert none.json["error"]["code"] == "engine_unavailable"


async def test_without_a_ready_endpoint_the_proxy_answers_503() -> None:
    async with envoy_over(behaviours.answer(), waits_ready=False) as (rig, proxy):
        rig.engine.is_healthy = False
        await rig.wait(lambda: not rig.holds().replicas_takeable)
        answer = await ask(proxy.port, requests.chat())
        assert answer.status == 503
        assert answer.headers["retry-after"]
        assert not rig.engine.calls


async def test_a_client_that_leaves_stops_the_engine_and_gives_its_place_back(tmp_path: Path) -> None:
    records = tmp_path / "records"
    async with envoy_over(behaviours.stream(tokens=2000, delay_s=0.02), records=records) as (rig, proxy):
        async with connected(proxy.port) as client:
            await client.send(requests.chat(stream=True))
            _, headers = await client.head()
            assert REPLICA in headers
            await rig.wait(lambda: rig.holds().in_flight == 1)
        await rig.wait_cancelled()
        await rig.wait_empty()
        assert [one.reason for one in await rig.wait_records(1)] == ["client_gone"]


async def test_a_replica_that_is_down_is_known_by_its_first_request(tmp_path: Path) -> None:
    records = tmp_path / "records"
    async with envoy_over(behaviours.answer(), behaviours.answer(), records=records) as (rig, proxy):
        down = replica_of(await ask(proxy.port, requests.chat()))
        await rig.engines[int(down[-1])].close()
        subset = f"x-test-subset: 127.0.0.1:{rig.engines[int(down[-1])].port}"
        answer = await ask(proxy.port, requests.chat(subset))
        assert answer.status == 503
        failed = next(one for one in await rig.wait_records(2) if one.status != 200)
        assert failed.reason == "engine_unavailable"
        await rig.wait(lambda: rig.holds().replicas_takeable == 1)
        assert replica_of(await ask(proxy.port, requests.chat())) != down
        await rig.engines[int(down[-1])].open()


async def test_an_engine_that_breaks_off_leaves_nothing_held() -> None:
    broken = behaviours.stream_then(tokens=2, then="reset")
    async with envoy_over(broken, behaviours.answer()) as (rig, proxy):
        port = rig.engines[0].port
        async with connected(proxy.port) as client:
            await client.send(requests.chat(f"x-test-subset: 127.0.0.1:{port}", stream=True))
            await client.head()
            assert b"[DONE]" not in await asyncio.wait_for(client.reader.read(), 20)
        await rig.wait_empty()


async def test_an_engines_refusal_passes_and_is_counted(tmp_path: Path) -> None:
    records = tmp_path / "records"
    async with envoy_over(behaviours.refuse(400, "no such thing"), records=records) as (rig, proxy):
        answer = await ask(proxy.port, requests.chat())
        assert answer.status == 400
        assert answer.json["error"]["message"] == "no such thing"
        assert [one.status for one in await rig.wait_records(1)] == [400]


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (requests.post("/v1/chat/completions", b"{"), 400, "invalid_json"),
        (requests.chat(messages=[]), 400, "invalid_value"),
        (requests.chat(model="unknown"), 404, "model_not_found"),
        (requests.chat("x-heterodyne-class: soon"), 400, "invalid_value"),
        (requests.get("/v1/chat/completions", method="PUT"), 405, "method_not_allowed"),
        (requests.get("/metrics/elsewhere"), 404, "unknown_path"),
        (requests.chat(messages=[{"role": "user", "content": "x" * 9000}]), 413, "body_too_large"),
    ],
    ids=["json", "field", "model", "hint", "method", "path", "size"],
)
async def test_what_cannot_be_forwarded_is_answered_by_name(request_bytes: bytes, status: int, code: str) -> None:
    doors = [listener(mode, [ext_proc(request_body=mode)]) for mode in (DUPLEX, BUFFERED)]
    async with envoy_over(behaviours.answer(), listeners=doors, picker={"body_bytes_max": 8192}) as (rig, proxy):
        for port in proxy.ports.values():
            answer = await ask(port, request_bytes)
            assert (answer.status, answer.json["error"]["code"]) == (status, code)
        assert not rig.engine.calls


async def test_a_mode_in_which_nothing_can_be_picked_is_named() -> None:
    doors = [listener("streamed", [ext_proc(request_body=STREAMED, response_body=STREAMED)])]
    async with envoy_over(behaviours.answer(), listeners=doors) as (_, proxy):
        answer = await ask(proxy.port, requests.chat())
        assert answer.status == 500
        assert "request_body_mode STREAMED" in answer.json["error"]["message"]


async def test_one_more_than_replicas_hold_waits_for_its_turn() -> None:
    async with envoy_over(behaviours.answer(delay_s=0.3), pool={"in_flight_max": 1}) as (rig, proxy):
        answers = await asyncio.gather(*(ask(proxy.port, requests.chat()) for _ in range(3)))
        assert [one.status for one in answers] == [200, 200, 200]
        assert len(rig.engine.calls) == 3


async def test_what_finds_no_place_in_the_queue_is_answered_429() -> None:
    admission = {"queue_max": 1}
    behaviour = behaviours.stream(tokens=200, delay_s=0.02)
    async with envoy_over(behaviour, pool={"in_flight_max": 1}, admission=admission) as (rig, proxy):
        async with connected(proxy.port) as runs, connected(proxy.port) as waits:
            await runs.send(requests.chat(stream=True))
            await runs.head()
            await waits.send(requests.chat(stream=True))
            for _ in range(100):
                answer = await ask(proxy.port, requests.chat("x-heterodyne-deadline-ms: 900"))
                if answer.status == 429:
                    break
            assert answer.json["error"]["code"] in {"queue_full", "shed"}
            assert answer.headers["retry-after"]
        await rig.wait_empty()


async def test_whoever_waits_past_its_deadline_is_answered_504() -> None:
    behaviour = behaviours.stream(tokens=2000, delay_s=0.02)
    async with envoy_over(behaviour, pool={"in_flight_max": 1}) as (rig, proxy):
        async with connected(proxy.port) as runs:
            await runs.send(requests.chat(stream=True))
            await runs.head()
            answer = await ask(proxy.port, requests.chat("x-heterodyne-deadline-ms: 400"))
            assert answer.status in {429, 504}
        await rig.wait_empty()


async def test_a_client_that_leaves_while_it_waits_holds_nothing() -> None:
    behaviour = behaviours.stream(tokens=2000, delay_s=0.02)
    async with envoy_over(behaviour, pool={"in_flight_max": 1}) as (rig, proxy):
        async with connected(proxy.port) as runs:
            await runs.send(requests.chat(stream=True))
            await runs.head()
            async with connected(proxy.port) as waits:
                await waits.send(requests.chat(stream=True))
                await asyncio.sleep(0.2)
        await rig.wait_empty()
        assert len(rig.engine.calls) == 1


@pytest.mark.parametrize("mode", [DUPLEX, BUFFERED])
async def test_an_alias_reaches_the_engine_as_the_name_it_knows(mode: str) -> None:
    doors = [listener(mode, [ext_proc(request_body=mode)])]
    async with envoy_over(behaviours.answer(), listeners=doors, model={"aliases": ("chat-latest",)}) as (rig, proxy):
        answer = await ask(proxy.port, requests.chat(model="chat-latest"))
        assert answer.status == 200, answer.body
        assert answer.headers["x-heterodyne-model"] == requests.MODEL
        assert rig.engine.calls[-1].json["model"] == requests.MODEL


async def test_a_fallback_answers_under_its_own_name_where_the_model_is_down() -> None:
    async with envoy_over(
        behaviours.answer(), model={"fallbacks": ("small",)}, beside={"small": behaviours.answer()}
    ) as (rig, proxy):
        rig.engine.is_healthy = False
        await rig.wait(lambda: rig.holds().replicas_takeable == 1)
        answer = await ask(proxy.port, requests.chat())
        assert (answer.status, answer.headers["x-heterodyne-model"]) == (200, "small")


async def test_keys_are_checked_and_stay_with_us() -> None:
    key = "k" * 24
    admission = {"api_keys_sha256": (sha256(key.encode()).hexdigest(),)}
    async with envoy_over(behaviours.answer(), admission=admission) as (rig, proxy):
        refused = await ask(proxy.port, requests.chat())
        assert (refused.status, refused.json["error"]["code"]) == (401, "invalid_api_key")
        assert (await ask(proxy.port, requests.chat(f"authorization: Bearer {key}"))).status == 200
        assert "authorization" not in rig.engine.calls[-1].headers


async def test_whoever_the_proxy_lets_in_has_the_tier_of_its_objective(tmp_path: Path) -> None:
    records = tmp_path / "records"
    picker: dict[str, Any] = {"access": "proxy", "objectives": {"chat": 10, "crawl": -1}}
    async with envoy_over(behaviours.answer(), picker=picker, records=records) as (rig, proxy):
        for header in ("x-gateway-inference-objective: chat", "x-llm-d-inference-objective: crawl", "x-other: 1"):
            identity = "x-gateway-inference-fairness-id: team-a"
            sent = requests.chat(header, identity, "authorization: Bearer jwt")
            assert (await ask(proxy.port, sent)).status == 200
            assert rig.engine.calls[-1].headers["authorization"] == "Bearer jwt", "the proxy's callers are its own"
        written = await rig.wait_records(3)
        assert [(one.tier, one.tenant) for one in written] == [
            ("gold", "proxy/team-a"),
            ("bronze", "proxy/team-a"),
            ("silver", "proxy/team-a"),
        ]


async def test_what_is_no_request_for_a_model_goes_to_any_replica_and_holds_nothing() -> None:
    async with envoy_over(behaviours.answer(), behaviours.answer(), picker={"access": "proxy"}) as (rig, proxy):
        listed = await ask(proxy.port, requests.get("/v1/models"))
        assert listed.json["data"][0]["id"] == requests.MODEL
        assert (await ask(proxy.port, requests.get("/anything/else"))).status == 200
        assert rig.holds().in_flight == 0


async def test_a_path_that_the_proxy_is_to_rewrite_is_read_by_its_end_or_by_its_body() -> None:
    async with envoy_over(behaviours.answer(), picker={"access": "proxy"}) as (_, proxy):
        for path in ("/team/llama/v1/chat/completions", "/elsewhere"):
            answer = await ask(proxy.port, requests.post(path, requests.chat_body()))
            assert replica_of(answer) == "pool-0"
            assert answer.headers["x-heterodyne-decision"]
        assert (await ask(proxy.port, requests.post("/elsewhere", requests.chat_body(model="other")))).status == 404


async def test_hints_of_a_lua_filter_reach_the_picker_in_buffered_mode_too() -> None:
    doors = [listener("buffered", [lua(envoy.HINTS), ext_proc(request_body=BUFFERED)])]
    async with envoy_over(behaviours.answer(), behaviours.answer(), listeners=doors) as (rig, proxy):
        hint = f"x-test-subset: 127.0.0.1:{rig.engines[1].port}"
        assert replica_of(await ask(proxy.port, requests.chat(hint))) == "pool-1"


async def test_the_example_picks() -> None:
    example = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))["static_resources"]
    doors, upstreams = example["listeners"], example["clusters"]
    doors[0]["address"]["socket_address"]["port_value"] = 0
    async with gateway_over(behaviours.answer_everything(), picker={}) as rig:
        place = upstreams[1]["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]
        assert place["socket_address"]["port_value"] == EndpointPickerSettings().port
        place["socket_address"]["port_value"] = rig.gateway.endpoint_picker_port
        async with envoy.running_envoy(doors, upstreams) as proxy:
            assert (await ask(proxy.port, requests.chat(stream=True))).text == " hello hello hello"


async def test_health_is_told_by_service_until_it_drains() -> None:
    async with gateway_over(behaviours.answer(), picker={}) as rig:
        port = rig.gateway.endpoint_picker_port
        for service in READINESS:
            assert await health(port, service) == "SERVING"
        with pytest.raises(grpc.aio.AioRpcError, match="no service"):
            await health(port, "else")
        await rig.server.drain()
        assert await health(port, "liveness") == "SERVING"
        assert await health(port, "readiness") == "NOT_SERVING"
