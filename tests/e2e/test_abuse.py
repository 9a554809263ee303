"""Abuse of keys in the real product: keys with one prompt are blocked by every worker, listed, and let go again."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from heterodyne.cli.main import cli
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.threads import in_thread

MODEL = "m"
TEMPLATE = (
    "You are an expert annotator. Read the following customer message about {} and write the best possible reply in a "
    "friendly voice, then explain which facts you relied on."
)
POLICIES = """
[pools.chat]
model = "m"
urls = ["{url}"]
[abuse.spread]
watch = "similar_prompts"
action = "block"
keys_min = 3
prompts_min = 2
hold_s = 600
[abuse.logits]
watch = "extraction"
action = "slow_down"
projects = ["copies/*"]
logits_min = 4
requests_per_minute = 2
"""
WORKERS = 2
WITHIN_S = 60.0


class Gateway:
    """Two workers with keys of projects of their own."""

    def __init__(self, serve: ServeProcess) -> None:
        serve.wait_ready()
        self.serve = serve
        self.url = serve.url.replace("0.0.0.0", "127.0.0.1")

    def say(self, *words: str) -> Any:
        """What a command answers, as JSON."""
        result = CliRunner().invoke(cli, [*words, "--url", self.serve.admin_url, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def issue(self, project: str) -> tuple[str, str]:
        """A new key of a new project: its id and its secret."""
        self.say("tenants", "create", project.partition("/")[0])
        self.say("tenants", "create", project)
        issued = self.say("keys", "create", project)
        return issued["key"]["id"], issued["secret"]

    def ask(self, secret: str, prompt: str, path: str = "/v1/chat/completions", **fields: Any) -> tuple[int, Any, Any]:
        """Status, headers and body; each on a connection of its own, so that any worker may answer."""
        body = {"model": MODEL, "max_tokens": 8, "messages": [{"role": "user", "content": prompt}], **fields}
        request = urllib.request.Request(  # our own address
            f"{self.url}{path}",
            data=json.dumps(body).encode(),
            headers={"authorization": f"Bearer {secret}", "content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, dict(answer.headers), json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), json.loads(error.read())

    def statuses(self, secret: str) -> set[int]:
        """Of so many connections that both workers have had one, but for one chance in half a thousand."""
        return {self.ask(secret, "Good morning.")[0] for _ in range(10)}

    def metrics(self) -> str:
        request = urllib.request.Request(f"{self.url}/metrics")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return str(answer.read().decode())


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    until_s = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < until_s, what
        time.sleep(0.2)


def served(folder: Path, engine: ScriptedEngine, *arguments: str) -> ServeProcess:
    return ServeProcess(folder, "--workers", str(WORKERS), *arguments, config=POLICIES.format(url=engine.url))


def test_keys_that_share_a_prompt_are_blocked_listed_and_let_go(tmp_path: Path) -> None:
    with in_thread(ScriptedEngine(behaviours.stream(3), model=MODEL)) as engine:
        with served(tmp_path, engine) as serve:
            gateway = Gateway(serve)
            thieves = [gateway.issue(f"thief-{number}/p") for number in range(3)]
            _, honest = gateway.issue("honest/p")
            for topic in ("lamps", "chairs", "clocks"):
                for _, secret in thieves:
                    assert gateway.ask(secret, TEMPLATE.format(topic))[0] == 200
            gateway.ask(honest, TEMPLATE.format("lamps"))
            wait_until(lambda: len(gateway.say("abuse", "list")["cases"]) == 3, "three keys are found")
            for _, secret in thieves:
                wait_until(lambda: gateway.statuses(secret) == {403}, "both workers block")  # noqa: B023
            status, headers, body = gateway.ask(thieves[0][1], "Good morning.")
            assert (status, body["error"]["code"]) == (403, "key_blocked")
            assert "blocked until" in body["error"]["message"]
            assert 0 < int(headers["retry-after"]) <= 600
            told = gateway.ask(thieves[0][1], "Good morning.", path="/v1/messages")
            assert (told[0], told[2]["error"]["type"]) == (403, "permission_error"), "in the words of another API"
            assert gateway.statuses(honest) == {200}, "one such prompt is no abuse"
            wait_until(
                lambda: 'heterodyne_abuse_keys{action="block",policy="spread"} 3.0' in gateway.metrics(),
                "three are counted",
            )
            assert 'heterodyne_abuse_findings_total{action="block",policy="spread"' in gateway.metrics()

            lifted = gateway.say("abuse", "lift", thieves[0][0])
            assert lifted["is_applied"]
            assert gateway.statuses(thieves[0][1]) == {200}
            assert gateway.statuses(thieves[1][1]) == {403}, "the others stay blocked"
            for topic in ("tables", "doors"):
                gateway.ask(thieves[0][1], TEMPLATE.format(topic))
            time.sleep(2.0)
            assert gateway.statuses(thieves[0][1]) == {200}, "what was lifted is let be"
            assert serve.stop() == 0, serve.log
        audited = "".join(path.read_text() for path in (tmp_path / "state").rglob("*.jsonl"))
        assert audited.count('"abuse.block"') == 3
        assert '"abuse.lift"' in audited
        port = gateway.url.rpartition(":")[2]  # a gateway that is started again has the port that it had
        with served(tmp_path, engine, "--port", port) as serve:
            again = Gateway(serve)
            assert again.statuses(thieves[1][1]) == {403}, "a restart lifts nothing"
            assert again.statuses(thieves[0][1]) == {200}
            assert serve.stop() == 0, serve.log
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for word in (b"annotator", b"lamps", b"chairs"):
        assert word not in kept, "no prompt is kept anywhere"


def test_a_key_that_copies_a_model_is_slowed_down_and_told_when_to_come(tmp_path: Path) -> None:
    with in_thread(ScriptedEngine(behaviours.stream(3), model=MODEL)) as engine, served(tmp_path, engine) as serve:
        gateway = Gateway(serve)
        _, secret = gateway.issue("copies/p")
        for number, topic in enumerate(("one", "two", "three", "four", "five", "six")):
            gateway.ask(secret, f"{topic} completely different question, asked as number {number}", logprobs=True)
        wait_until(lambda: len(gateway.say("abuse", "list")["cases"]) == 1, "the key is found")
        wait_until(lambda: 429 in gateway.statuses(secret), "some wait")
        refused = next(one for one in (gateway.ask(secret, "Hello.") for _ in range(10)) if one[0] == 429)
        assert refused[2]["error"]["code"] == "slowed_down"
        assert 0 < int(refused[1]["retry-after"]) <= 60
        passed = sum(gateway.ask(secret, "Hello.")[0] == 200 for _ in range(20))
        assert passed <= WORKERS, "each worker has its part of two a minute"
        assert serve.stop() == 0, serve.log
