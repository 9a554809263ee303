"""`heterodyne rollout replay`: what a gateway captured of a project that lets it, asked again of a candidate."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from heterodyne.audit.key import open_key
from heterodyne.cli.main import cli
from heterodyne.domain.audit import RequestEntry
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from tests.e2e.test_request_audit import SECRETIVE, ask, done, entry_of, say, serving
from tests.support.audits import append
from tests.support.threads import in_thread

QUESTIONS = 60


def captured(folder: Path, answer: str = "the capital is Paris") -> list[str]:
    """A log of so many kept questions; the options that name it."""
    key_file = folder / "audit.key"
    entries = [
        RequestEntry(
            id=f"r{number}",
            at=1_700_000_000.0 + number,
            project="acme/search",
            operation="chat",
            asked_model="chat",
            model="chat",
            status=200,
            prompt=json.dumps({"model": "chat", "messages": [{"role": "user", "content": f"Question {number}?"}]}),
            answer=answer,
        )
        for number in range(QUESTIONS)
    ]
    append(folder / "audit", open_key(key_file, may_create=True), *entries)
    return ["--dir", str(folder / "audit"), "--key-file", str(key_file)]


def replay(*words: str) -> Result:
    return CliRunner().invoke(cli, ["rollout", "replay", *words], prog_name="heterodyne")


async def judging(call: EngineCall) -> None:
    """Prefers the answer with Paris in it, wherever it stands."""
    text = call.body.decode()
    first, second = text.split("Answer A:")[1].split("Answer B:")
    verdict = "tie" if ("Paris" in first) == ("Paris" in second) else "A" if "Paris" in first else "B"
    await behaviours.answer(verdict)(call)


def test_a_candidate_that_answers_alike_passes(tmp_path: Path) -> None:
    where = captured(tmp_path)
    with in_thread(ScriptedEngine(behaviours.answer("the capital is Paris"), model="next")) as engine:
        found = replay("chat", "--to", engine.url, "--served-model", "next", "--requests", "50", *where)
        asked = [json.loads(call.body) for call in engine.calls]
    assert found.exit_code == 0, found.output
    assert "50 requests; words alike: 100%" in found.stdout
    assert {(one["model"], one["temperature"]) for one in asked} == {("next", 0)}
    assert {one["messages"][0]["content"] for one in asked} == {f"Question {n}?" for n in range(10, 60)}, "the latest"


def test_a_candidate_that_is_surely_worse_ends_with_1(tmp_path: Path) -> None:
    where = captured(tmp_path)
    with in_thread(ScriptedEngine(behaviours.answer("I'm sorry, but I can't help."), model="chat")) as engine:
        found = replay("chat", "--to", engine.url, "--json", *where)
    assert found.exit_code == 1
    assert json.loads(found.stdout)["candidate"]["sums"]["refusals"]["total"] == QUESTIONS
    with in_thread(ScriptedEngine(behaviours.refuse(500, "out of memory"), model="chat")) as engine:
        found = replay("chat", "--to", engine.url, *where)
    assert found.exit_code == 1
    assert "the first failure: " in found.stdout
    assert "out of memory" in found.stdout


def test_a_judge_says_which_answer_is_better(tmp_path: Path) -> None:
    where = captured(tmp_path)
    with (
        in_thread(ScriptedEngine(behaviours.answer("the capital is Lyon"), model="chat")) as engine,
        in_thread(ScriptedEngine(judging, model="judge")) as judge,
    ):
        found = replay("chat", "--to", engine.url, "--judge", "judge", "--judge-url", judge.url, *where)
        assert len(judge.calls) == 2 * QUESTIONS, "in both orders"
    assert "the judge prefers the candidate 0 times, what was answered 60 times" in found.stdout
    assert found.exit_code == 1


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    where = captured(tmp_path)
    nobody = replay("other", "--to", "http://127.0.0.1:9", *where)
    assert nobody.exit_code == 2
    assert "holds no answered request of other with its text" in nobody.output
    away = replay("chat", "--to", "http://127.0.0.1:9", "--requests", "3", *where)
    assert "no gateway answers at http://127.0.0.1:9" in away.output
    assert replay("chat", "--to", "ftp://x", *where).exit_code != 0


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_gateway_captured_is_asked_again(tmp_path: Path, *, stream: bool) -> None:
    with serving(tmp_path) as serve:
        where = ("--url", serve.admin_url)
        done(say(tmp_path, "tenants", "create", "acme", *where))
        done(say(tmp_path, "tenants", "create", "acme/search", "--keeps-content", *where))
        issued = json.loads(done(say(tmp_path, "keys", "create", "acme/search", "--json", *where)))
        _, request_id, _, _ = ask(serve, "chat", key=issued["secret"], stream=stream)
        entry_of(tmp_path, request_id)
    with in_thread(ScriptedEngine(behaviours.answer("hello hello hello"), model="chat")) as engine:
        found = say(tmp_path, "rollout", "replay", "chat", "--to", engine.url)
        (call,) = engine.calls
    assert "1 request; words alike" in found.stdout, found.output
    asked = json.loads(call.body)["messages"][0]["content"]
    assert asked.startswith("my card is")
    assert asked != SECRETIVE, "redacted"
