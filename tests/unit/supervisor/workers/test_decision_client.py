"""The supervisor asks workers about their decisions: real gateways, real sockets, the real admin API over both."""

import asyncio
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from heterodyne.assembly.gateway import running_gateway
from heterodyne.config.settings import Settings
from heterodyne.console.app import admin_app
from heterodyne.console.errors import NoWorkerAnswers
from heterodyne.console.settings import ConsoleSettings
from heterodyne.domain.errors import UnknownModel, UnknownName
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.routing.explanation.explanation import CandidateVerdict, Explanation
from heterodyne.routing.explanation.question import Question
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.supervisor.workers.decision_client import DecisionClient
from heterodyne.supervisor.workers.decision_messages import LINE_BYTES_MAX, DecisionReply
from heterodyne.supervisor.workers.decision_server import serve_decisions, socket_path
from heterodyne.supervisor.workers.live_gateway import LiveGateway
from heterodyne.telemetry.settings import TelemetrySettings
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from tests.support import asgi
from tests.support.raw_client import ask, connected
from tests.support.requests import MODEL, chat

JSON = {"content-type": "application/json"}
OTHER = "other"
KEYS = (hashlib.sha256(b"secret").hexdigest(),)


class Rig:
    """Two workers of one fleet, and the supervisor's end of their sockets."""

    def __init__(self, workers: list[LiveGateway], run_dir: Path) -> None:
        self.workers = workers
        self.run_dir = run_dir
        self.answers = DecisionClient(run_dir, lambda: [f"worker-{index}" for index in range(len(workers))])

    async def explain(self, **question: Any) -> Explanation:
        return await self.answers.explain(Question(**{"model": MODEL, **question}))

    async def send(self, worker: int = 0, *headers: str, **fields: object) -> dict[str, str]:
        answer = await ask(self.workers[worker].server.port, chat(*headers, **fields))
        assert answer.status == 200, answer.body
        return answer.headers


def settings_of(*engines: ScriptedEngine, gateway: dict[str, Any], model: dict[str, Any]) -> Settings:
    return Settings(
        gateway=GatewaySettings(port=0, **gateway),
        telemetry=TelemetrySettings(records="off", log_level="error"),
        pools={
            "cheap": PoolSettings(model=MODEL, urls=(engines[0].url,), price_usd_per_hour=1.0, region="eu"),
            "dear": PoolSettings(model=MODEL, urls=(engines[1].url,), price_usd_per_hour=4.0, region="us"),
            "spare": PoolSettings(model=OTHER, urls=(engines[2].url,)),
        },
        models={MODEL: ModelSettings(aliases=("alias",), **model)},
    )


@asynccontextmanager
async def rig(model: dict[str, Any] | None = None, **gateway: Any) -> AsyncIterator[Rig]:
    behaviour = behaviours.stream(5, delay_s=0.05) if gateway.pop("streams", False) else behaviours.answer()
    async with (
        ScriptedEngine(behaviour) as one,
        ScriptedEngine(behaviour) as two,
        ScriptedEngine(behaviour, model=OTHER) as three,
    ):
        settings = settings_of(one, two, three, gateway=gateway, model=model or {})
        # A socket's path has to be short.
        with tempfile.TemporaryDirectory() as folder:
            run_dir = Path(folder)
            async with (
                _worker(settings, run_dir, "worker-0") as first,
                _worker(settings, run_dir, "worker-1") as second,
            ):
                yield Rig([first, second], run_dir)


@asynccontextmanager
async def _worker(settings: Settings, run_dir: Path, name: str) -> AsyncIterator[LiveGateway]:
    async with (
        running_gateway(settings, remote_replicas(settings), rules=model_rules(settings), name=name) as gateway,
        serve_decisions(run_dir, name, gateway.explainer, gateway.guard_hits),
    ):
        async with asyncio.timeout(30):
            while gateway.takeable() != 3:
                await asyncio.sleep(0.005)
        yield gateway


async def test_a_dry_run_names_a_replica_and_sends_nothing() -> None:
    async with rig() as one:
        told = await one.explain(policy="cost", slo_ttft_ms=60_000.0, prompt_tokens=200, output_tokens=20)
        assert [row.replica for row in told.candidates] == ["cheap-0", "dear-0"]
        assert [row.verdict for row in told.candidates] == [CandidateVerdict.CHOSEN, CandidateVerdict.BACKUP]
        assert (told.worker, told.asked.policy, told.asked.output_tokens) == ("worker-0", "cost", 20.0)
        assert told.asked.slo_ttft_ms == 60_000.0
        assert await one.answers.decisions(10) == ()
        assert one.workers[0].server.snapshot().in_flight == 0


async def test_an_alias_is_the_model_it_stands_for() -> None:
    async with rig() as one:
        assert (await one.explain(model="alias")).asked.model == MODEL
        with pytest.raises(UnknownModel, match="Did you mean 'scripted'"):
            await one.explain(model="scriptd")


async def test_the_prompt_is_measured_and_what_a_replica_holds_of_it_counts() -> None:
    text = "a long system prompt that everybody begins with " * 40
    async with rig() as one:
        before = await one.explain(prompt=text)
        assert before.asked.prompt_tokens > 300
        assert {row.cached_tokens for row in before.candidates} == {0}
        await one.send(messages=[{"role": "user", "content": text}])
        after = await one.explain(prompt=text)
        # The scripted engine counts few tokens, and the estimate has learned from it.
        assert max(row.cached_tokens for row in after.candidates) > 0.4 * after.asked.prompt_tokens
        stranger = await one.explain(prompt=text, api_key_sha256=KEYS[0])
        assert {row.cached_tokens for row in stranger.candidates} == {0}


async def test_those_that_may_not_be_asked_say_why() -> None:
    async with rig({"regions_only": ("eu",)}) as one:
        told = await one.explain()
        assert [(row.replica, row.verdict) for row in told.candidates] == [
            ("cheap-0", CandidateVerdict.CHOSEN),
            ("dear-0", CandidateVerdict.EXCLUDED),
        ]
        assert told.candidates[1].reason == "region us, and only eu may be used"
        gateway = one.workers[0]
        drained = tuple(structs.replace(each, is_draining=True) for each in remote_replicas(gateway.settings))
        gateway.apply(gateway.settings, drained, model_rules(gateway.settings), version=2)
        told = await one.explain()
        assert told.reason is None
        assert told.conclusion == f"No replica of {MODEL} may be asked now."
        assert told.candidates[0].reason == "draining: it takes nothing new"


async def test_a_model_that_stands_in_is_explained_too() -> None:
    async with rig({"fallbacks": (OTHER,), "fallbacks_when_late": (OTHER,)}) as one:
        late = await one.explain(slo_ttft_ms=0.001)
        assert late.instead is None  # the other would be late as well
        assert "No replica keeps the promise. TTFT 0.001 ms: the best is" in late.conclusion
        gateway = one.workers[0]
        fleet = tuple(
            structs.replace(each, is_draining=each.model == MODEL) for each in remote_replicas(gateway.settings)
        )
        gateway.apply(gateway.settings, fleet, model_rules(gateway.settings), version=2)
        async with asyncio.timeout(30):
            while gateway.takeable() != 1:
                await asyncio.sleep(0.005)
        gone = await one.explain()
        assert gone.instead is not None
        assert gone.instead.candidates[0].replica == "spare-0"
        assert f"{OTHER} answers in its place" in gone.conclusion
        assert (await one.send())["x-heterodyne-model"] == OTHER
        assert "x-heterodyne-model" not in await one.send(1)


async def test_an_operator_may_ask_what_clients_may_not() -> None:
    async with rig({"policy_override": False}) as one:
        told = await one.explain(policy="cost")
        assert told.asked.policy == "cost"
        assert "may not ask for another policy" in told.notes[0]


async def test_a_request_that_was_sent_is_found_on_whichever_worker_it_was() -> None:
    async with rig(streams=True) as one:
        for worker in (0, 1):
            id = (await one.send(worker, stream=True))["x-request-id"]
            past = await one.answers.decision(id)
            assert past.explanation.worker == f"worker-{worker}"
            assert past.record is not None
            assert past.record.id == id
            assert past.record.ttft_ms is not None
            assert past.explanation.candidates[0].replica == past.record.replica
            assert past.explanation.candidates[0].ttft.ms == pytest.approx(past.record.predicted_ttft_ms)
            assert {row.pool for row in past.explanation.candidates} == {"cheap", "dear"}
        latest = await one.answers.decisions(10)
        assert [record.at for record in latest] == sorted((record.at for record in latest), reverse=True)
        assert len(latest) == 2
        assert len(await one.answers.decisions(1)) == 1


async def test_a_request_that_is_being_answered_is_known() -> None:
    async with rig(streams=True) as one, connected(one.workers[1].server.port) as client:
        await client.send(chat(stream=True))
        _, headers = await client.head()
        past = await one.answers.decision(headers["x-request-id"])
        assert past.record is None
        assert "It is still being answered." in past.explanation.notes
        await client.body(headers)
        assert (await one.answers.decision(headers["x-request-id"])).record is not None


async def test_of_a_request_nobody_knows_it_is_said_what_is_kept() -> None:
    async with rig() as one:
        with pytest.raises(UnknownName, match="latest 1000"):
            await one.answers.decision("req_nobody")


async def test_the_log_is_as_long_as_the_settings_say() -> None:
    async with rig(decisions_kept=2) as one:
        ids = [(await one.send())["x-request-id"] for _ in range(3)]
        with pytest.raises(UnknownName, match="latest 2"):
            await one.answers.decision(ids[0])
        assert (await one.answers.decision(ids[2])).id == ids[2]
        gateway = one.workers[0]
        off = structs.replace(gateway.settings, gateway=structs.replace(gateway.settings.gateway, decisions_kept=0))
        gateway.apply(off, remote_replicas(off), model_rules(off), version=2)
        assert await one.answers.decisions(10) == ()


async def test_a_socket_is_for_its_owner_alone_and_goes_with_its_worker() -> None:
    async with rig() as one:
        path = socket_path(one.run_dir, "worker-0")
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not path.exists()


async def test_a_worker_that_does_not_answer_is_passed_over() -> None:
    async with rig() as one:
        socket_path(one.run_dir, "worker-0").unlink()
        assert (await one.explain()).worker == "worker-1"
        socket_path(one.run_dir, "worker-1").unlink()
        with pytest.raises(NoWorkerAnswers):
            await one.explain()
        with pytest.raises(NoWorkerAnswers):
            await one.answers.decision("req_1")
        with pytest.raises(NoWorkerAnswers):
            await one.answers.decisions(1)


@pytest.mark.parametrize("line", [b"{}\n", b"not json\n", b'{"explain": {"model": 1}}\n', b'{"other": 1}\n'])
async def test_a_line_that_is_no_question_is_answered_and_harms_nobody(line: bytes) -> None:
    async with rig() as one:
        reader, writer = await asyncio.open_unix_connection(str(socket_path(one.run_dir, "worker-0")))
        writer.write(line)
        answer = msgspec.json.decode(await reader.readline(), type=DecisionReply)
        assert answer.failure is not None or answer.decisions == ()
        assert await reader.read() == b""
        writer.close()
        assert (await one.explain()).worker == "worker-0"


async def test_a_line_without_an_end_is_not_read_for_ever() -> None:
    async with rig() as one:
        reader, writer = await asyncio.open_unix_connection(str(socket_path(one.run_dir, "worker-0")))
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError, TimeoutError)):  # noqa: PT012
            async with asyncio.timeout(30):
                for _ in range(LINE_BYTES_MAX // (1 << 20) + 3):
                    writer.write(b"x" * (1 << 20))
                    await writer.drain()
                await reader.readexactly(1)
        writer.close()
        assert (await one.explain()).worker == "worker-0"


async def test_a_folder_that_can_have_no_socket_costs_only_the_answers(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()

    async with serve_decisions(deep, "worker-0", None, None):  # type: ignore[arg-type]
        assert list(deep.iterdir()) == []


class FakeDecisions:
    """The fleet's owner, as far as decisions go."""

    def __init__(self, decisions: DecisionClient) -> None:
        self.decisions = decisions

    def __getattr__(self, name: str) -> Any:
        return None


async def test_the_admin_api_explains() -> None:
    async with rig() as one:
        app = admin_app(ConsoleSettings(), FakeDecisions(one.answers))
        body = {"model": "alias", "policy": "cost", "slo_ttft_ms": 500, "class": "interactive", "prompt": "hi " * 50}
        answer = await asgi.ask(app, "POST", "/admin/explain", headers=JSON, pieces=[json.dumps(body).encode()])
        assert answer.status == 200
        assert answer.json()["asked"]["slo_ttft_ms"] == 500.0
        assert {row["verdict"] for row in answer.json()["candidates"]} <= {"chosen", "backup", "passed"}
        id = (await one.send())["x-request-id"]
        past = await asgi.ask(app, "GET", f"/admin/decisions/{id}")
        assert (past.status, past.json()["record"]["id"]) == (200, id)
        latest = await asgi.ask(app, "GET", "/admin/decisions?limit=5")
        assert [row["id"] for row in latest.json()["decisions"]] == [id]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"model": "scriptd"}, 404, "Did you mean 'scripted'?"),
        ({"model": MODEL, "policy": "csot"}, 404, 'did you mean "cost"?'),
        ({"model": MODEL, "class": "bach"}, 404, 'did you mean "batch"?'),
        ({"model": MODEL, "slo_ttft_ms": -1}, 400, "$.slo_ttft_ms"),
        ({"model": MODEL, "prompt": "x", "prompt_tokens": 2}, 400, "either"),
        ({}, 400, "`model`"),
    ],
)
async def test_the_admin_api_refuses_what_cannot_be_asked(body: dict[str, Any], status: int, words: str) -> None:
    async with rig() as one:
        app = admin_app(ConsoleSettings(), FakeDecisions(one.answers))
        answer = await asgi.ask(app, "POST", "/admin/explain", headers=JSON, pieces=[json.dumps(body).encode()])
        assert answer.status == status
        assert words in answer.json()["error"]["message"]
