"""Whether a gateway's answers are whole: every token of the engine, once, in both forms."""

import http.client
import json

from benchmarks.gateway.scenarios import REQUEST, STREAM, Scenario
from benchmarks.gateway.upstream import TOKEN, TOKENS

ANSWER_S_MAX = 60


def problem(port: int) -> str | None:
    """What is wrong with the gateway's answers; None when nothing is."""
    for scenario in (REQUEST, STREAM):
        try:
            status, body = _ask(port, scenario)
        except (OSError, http.client.HTTPException) as error:
            return f"{scenario.name}: {type(error).__name__} {error}"
        if status != 200:
            return f"{scenario.name}: status {status} {body[:200]!r}"
        try:
            text = _streamed(body) if scenario.stream else json.loads(body)["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            return f"{scenario.name}: not the promised form ({type(error).__name__}) {body[:200]!r}"
        if text != TOKEN * TOKENS:
            return f"{scenario.name}: {len(text)} letters of text instead of {len(TOKEN * TOKENS)}"
    return None


def _ask(port: int, scenario: Scenario) -> tuple[int, bytes]:
    head, _, body = scenario.request().partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S_MAX)
    try:
        connection.request("POST", "/v1/chat/completions", body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _streamed(body: bytes) -> str:
    events = [line[6:] for line in body.decode().split("\n") if line.startswith("data: ")]
    if events[-1].strip() != "[DONE]":
        raise ValueError("no [DONE]")
    deltas = (choice["delta"] for event in events[:-1] for choice in json.loads(event)["choices"])
    return "".join(delta.get("content") or "" for delta in deltas)
