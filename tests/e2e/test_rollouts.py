"""A model moves from one pool to another while it serves: the real command, real processes, and evidence."""

import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from heterodyne.cli.main import cli
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

CONFIG = """
[pools.old]
model = "chat"
urls = {old}

[pools.new]
model = "chat"
urls = {new}
"""
CONVERSATIONS = 40
TURN_S = 1.0  # between two turns of a person: longer than workers take to tell each other, on a busy machine too
Message = dict[str, str]


class Fleet:
    """The engines of both pools, and the gateway before them."""

    def __init__(self, folder: Path, old: list[ScriptedEngine], new: list[ScriptedEngine]) -> None:
        self.all_old, self.all_new = old, new
        self._folder = folder
        self._config = CONFIG.format(old=json.dumps([one.url for one in old]), new=json.dumps([one.url for one in new]))

    @property
    def new(self) -> ScriptedEngine:
        """The only one of the candidate, as most of these tests have it."""
        (engine,) = self.all_new
        return engine

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[ServeProcess]:
        """The same state folder every time."""
        with ServeProcess(self._folder, *arguments, config=self._config) as serve:
            serve.wait_ready()
            until(lambda: all(row["state"] == "ready" for row in admin(serve, "fleet")["replicas"]), "both are ready")
            yield serve


class Conversation:
    """Asks turn after turn, and remembers who answered."""

    def __init__(self, serve: ServeProcess, number: int) -> None:
        self._serve = serve
        self._messages: list[Message] = [{"role": "user", "content": f"Hello, I am number {number}."}]
        self.pools: list[str] = []

    def ask(self) -> str:
        body = json.dumps({"model": "chat", "messages": self._messages}).encode()
        request = urllib.request.Request(
            f"{self._serve.url}/v1/chat/completions", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.pools.append(answer.headers["x-heterodyne-pool"])
            said = json.load(answer)["choices"][0]["message"]["content"]
        self._messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "And then?"}]
        return self.pools[-1]


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with engines(tmp_path, old=1, new=1) as fleet:
        yield fleet


@contextmanager
def engines(folder: Path, **pools: int) -> Iterator[Fleet]:
    with ExitStack() as stack:
        old, new = (
            [
                stack.enter_context(in_thread(ScriptedEngine(behaviours.answer(pool), model="chat")))
                for _ in range(number)
            ]
            for pool, number in pools.items()
        )
        yield Fleet(folder, old, new)


def admin(serve: ServeProcess, path: str, body: object = None) -> Any:
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{serve.admin_url}/admin/{path}", content, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def start(serve: ServeProcess, **more: object) -> Any:
    return admin(serve, "rollouts/start", {"model": "chat", "candidate": ["new"], **more})


def latest(serve: ServeProcess) -> Any:
    return admin(serve, "rollouts?model=chat")["rollouts"][0]


def promote(serve: ServeProcess, to: str) -> None:
    """By hand, until a stage has begun and every worker works by it."""
    while stage(serve) != to:
        admin(serve, "rollouts/promote", {"model": "chat"})
    until(lambda: admin(serve, "fleet")["is_applied"], "the workers know")


def stage(serve: ServeProcess) -> str:
    return str(latest(serve)["steps"][-1]["stage"])


def until(is_so: Callable[[], bool], what: str, within_s: float = 30.0) -> None:
    until_s = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until_s, f"not within {within_s:g} s: {what}"
        time.sleep(0.1)


def test_a_conversation_stays_with_its_version_while_the_share_grows(fleet: Fleet) -> None:
    with fleet.serving("--workers", "2") as serve:
        early = [Conversation(serve, number) for number in range(CONVERSATIONS)]
        for one in early:
            one.ask()
        start(serve)
        until(lambda: stage(serve) == "canary 1 %", "smoke and parity are behind it")
        assert fleet.new.calls, "its smoke"
        known = {one: one.ask() for one in early}
        assert set(known.values()) == {"old"}
        time.sleep(TURN_S)
        promote(serve, "canary 50 %")
        later = [Conversation(serve, 1000 + number) for number in range(CONVERSATIONS)]
        for _ in range(3):
            for one in (*early, *later):
                one.ask()
            time.sleep(TURN_S)
        assert {len(set(one.pools[1:])) for one in early} == {1}, "who began before it goes on as it was"
        assert {len(set(one.pools)) for one in later} == {1}
        shares = [one.pools[-1] for one in later].count("new") / CONVERSATIONS
        assert 0.2 < shares < 0.8
        promote(serve, "full")
        assert latest(serve)["status"] == "completed"
        for one in later:
            one.ask()
        assert {len(set(one.pools)) for one in later} == {1}, "the old version ends what it began"
        assert {Conversation(serve, 2000 + number).ask() for number in range(10)} == {"new"}
        assert serve.stop() == 0, serve.log


def test_a_candidate_that_fails_is_taken_back_and_no_user_sees_it(fleet: Fleet) -> None:
    fleet.new.behaviour = smokes_and_fails
    with fleet.serving() as serve:
        start(serve)
        until(lambda: stage(serve) == "canary 1 %", "it answers its smoke")
        with pytest.raises(urllib.error.HTTPError) as refused:
            start(serve)
        with refused.value as answer:
            assert "A rollout of chat is running" in json.load(answer)["error"]["message"]
        promote(serve, "canary 25 %")
        for number in range(200):
            assert Conversation(serve, number).ask() == "old"
            if latest(serve)["status"] != "running":
                break
        until(lambda: bool(latest(serve)["status"] == "rolled_back"), "it is taken back")
        assert latest(serve)["steps"][-1]["why"] == "surely worse: errors"
        until(lambda: admin(serve, "fleet")["is_applied"], "the workers know")
        asked = len(fleet.new.calls)
        assert {Conversation(serve, 5000 + number).ask() for number in range(20)} == {"old"}
        assert len(fleet.new.calls) == asked, "nobody is sent there"


def test_a_candidate_that_refuses_what_the_baseline_answers_is_taken_back(fleet: Fleet) -> None:
    fleet.new.behaviour = behaviours.answer("I'm sorry, but I can't help with that.")
    with fleet.serving() as serve:
        start(serve)
        until(lambda: stage(serve) == "canary 1 %", "it answers its smoke")
        promote(serve, "canary 50 %")
        ask_until(serve, lambda: bool(latest(serve)["status"] == "rolled_back"), "it is taken back")
        assert "refusals" in latest(serve)["steps"][-1]["why"]


def test_the_candidate_is_compared_with_replicas_that_get_as_much(tmp_path: Path) -> None:
    def users(engine: ScriptedEngine) -> int:
        return sum(b"I am number" in call.body for call in engine.calls)

    with engines(tmp_path, old=4, new=2) as fleet, fleet.serving() as serve:
        start(serve)
        until(lambda: stage(serve) == "canary 1 %", "it answers its smoke")
        promote(serve, "canary 25 %")
        for number in range(200):
            Conversation(serve, number).ask()
        new, old = [users(one) for one in fleet.all_new], [users(one) for one in fleet.all_old]
        assert new[1] == 0, "its share is one replica's work"
        assert 25 <= new[0] <= 75
        assert 25 <= old[0] <= 75
        assert sum(old[1:]) == 200 - new[0] - old[0]
        until(lambda: latest(serve)["candidate_evidence"]["requests"] == new[0], "all were counted")
        assert latest(serve)["baseline_evidence"]["requests"] == sum(old)


def waited(serve: ServeProcess, *words: str) -> tuple[int, str]:
    found = CliRunner().invoke(
        cli, ["rollout", "wait", "chat", "--url", serve.admin_url, *words], prog_name="heterodyne"
    )
    return found.exit_code, found.output


def test_whoever_waits_hears_how_it_ended(fleet: Fleet) -> None:
    with fleet.serving() as serve:
        assert waited(serve)[0] == 2, "there is none"
        start(serve)
        until(lambda: stage(serve) == "canary 1 %", "smoke and parity are behind it")
        code, output = waited(serve, "--timeout", "0.1")
        assert (code, "running" in output) == (1, True)
        promote(serve, "full")
        code, output = waited(serve)
        assert (code, "completed" in output) == (0, True)


def test_a_candidate_that_does_not_answer_gets_no_user(fleet: Fleet) -> None:
    fleet.new.behaviour = behaviours.refuse(500, "out of memory")
    with fleet.serving() as serve:
        start(serve)
        assert waited(serve)[0] == 1
        until(lambda: bool(latest(serve)["status"] == "rolled_back"), "it is taken back")
        assert "new-0 answers 500" in latest(serve)["steps"][-1]["why"]
        assert {Conversation(serve, number).ask() for number in range(20)} == {"old"}


async def smokes_and_fails(call: EngineCall) -> None:
    await (behaviours.answer("yes") if b"Say yes" in call.body else behaviours.refuse(500))(call)


def ask_until(serve: ServeProcess, is_so: Callable[[], bool], what: str) -> set[str]:
    """Users go on asking meanwhile; which pools answered them until then."""
    numbers, pools = count(), set[str]()

    def asked() -> bool:
        pool = Conversation(serve, next(numbers)).ask()
        if is_so():
            return True
        pools.add(pool)
        return False

    until(asked, what, within_s=60.0)
    return pools


def test_copies_are_asked_of_the_candidate_before_any_user_is(fleet: Fleet) -> None:
    with fleet.serving() as serve:
        start(serve, shadow=3)
        until(lambda: stage(serve) == "shadow", "smoke and parity are behind it")
        pools = ask_until(serve, lambda: stage(serve) != "shadow", "copies were compared")
        assert pools == {"old"}
        why = next(step["why"] for step in latest(serve)["steps"] if step["stage"] == "shadow" and step["why"])
        assert why.endswith("copies: 0 failed, answers 1.00 times as long, 0% of the words alike")
        copies = [json.loads(call.body) for call in fleet.new.calls if b"Say yes" not in call.body]
        assert len(copies) >= 3
        assert {(one["temperature"], one.get("stream", False)) for one in copies} == {(0, False)}
        assert all("I am number" in one["messages"][0]["content"] for one in copies)


def test_a_candidate_that_fails_copies_is_taken_back_before_any_user_sees_it(fleet: Fleet) -> None:
    fleet.new.behaviour = smokes_and_fails
    with fleet.serving() as serve:
        start(serve, shadow=1000)
        pools = ask_until(serve, lambda: bool(latest(serve)["status"] == "rolled_back"), "it is taken back")
        assert pools == {"old"}
        last = latest(serve)["steps"][-1]
        assert last["stage"] == "shadow"
        assert "that the baseline answered" in last["why"]


@pytest.mark.parametrize(("expects", "status"), [("new", "running"), ("Canberra", "rolled_back")])
def test_questions_with_known_answers_are_asked_first(fleet: Fleet, tmp_path: Path, expects: str, status: str) -> None:
    golden = tmp_path / "golden.jsonl"
    golden.write_text(json.dumps({"prompt": "The capital of Australia?", "expects": [expects]}) + "\n")
    with fleet.serving() as serve:
        words = ["rollout", "start", "chat", "--candidate", "new", "--golden", str(golden), "--url", serve.admin_url]
        begun = CliRunner().invoke(cli, words, prog_name="heterodyne")
        assert begun.exit_code == 0, begun.output
        until(lambda: stage(serve) == "canary 1 %" or latest(serve)["status"] != "running", "they were asked")
        assert latest(serve)["status"] == status
        why = next(step["why"] for step in latest(serve)["steps"] if step["stage"] == "golden" and step["why"])
        assert why.startswith("1 of 1 golden" if status == "running" else "0 of 1 golden")
        golden.write_text('{"prompt": 1}')
        refused = CliRunner().invoke(cli, words, prog_name="heterodyne")
        assert refused.exit_code != 0
        assert "line 1: " in refused.output


@pytest.mark.parametrize("at", ["smoke", "canary 1 %", "canary 25 %", "full"])
def test_a_gateway_that_is_killed_goes_on_where_it_was(fleet: Fleet, at: str) -> None:
    with fleet.serving() as serve:
        start(serve)
        if at != "smoke":
            until(lambda: stage(serve) == "canary 1 %", "smoke and parity are behind it")
            promote(serve, at)
        before = latest(serve)
        os.kill(serve.process.pid, signal.SIGKILL)
        serve.process.wait()
    with fleet.serving() as serve:
        after = latest(serve)
        assert after["id"] == before["id"]
        assert after["steps"][: len(before["steps"])] == before["steps"]
        if at == "smoke":
            until(lambda: stage(serve) == "canary 1 %", "it goes on")
        else:
            assert stage(serve) == at
        answered = [Conversation(serve, number).ask() for number in range(40)]
        expected = {"smoke": 0, "canary 1 %": 0, "canary 25 %": 10, "full": 40}[at]
        assert abs(answered.count("new") - expected) <= (10 if expected == 10 else 3)


def test_what_is_wrong_is_said(fleet: Fleet) -> None:
    with fleet.serving() as serve:
        for path, body, said in (
            ("start", {"model": "chta", "candidate": ["new"]}, 'no model "chta"'),
            ("start", {"model": "chat", "candidate": ["next"]}, 'no pool of chat "next"'),
            ("start", {"model": "chat", "candidate": ["old", "new"]}, "one to come from"),
            ("start", {"model": "chat", "candidate": []}, "1 to 32 pools"),
            ("abort", {"model": "chat"}, "no rollout of chat is running"),
        ):
            with pytest.raises(urllib.error.HTTPError) as refused:
                admin(serve, f"rollouts/{path}", body)
            with refused.value as answer:
                assert said in json.load(answer)["error"]["message"], path
