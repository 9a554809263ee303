"""The request each measure repeats, and by how many connections at once."""

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from benchmarks.gateway.upstream import MODEL, PACED_USER, TOKENS

PROMPT_BYTES = 400_000
SYSTEM = "You are a helpful assistant."
MESSAGES_PATH, RESPONSES_PATH = "/v1/messages", "/v1/responses"
GEMINI_PATH = f"/v1beta/models/{MODEL}:streamGenerateContent"
Json = dict[str, Any]


def _messages(model: str, prompt: str) -> Json:
    asked = [{"role": "user", "content": prompt}]
    return {"model": model, "system": SYSTEM, "messages": asked, "max_tokens": TOKENS, "temperature": 0, "stream": True}


def _responses(model: str, prompt: str) -> Json:
    asked = {"model": model, "instructions": SYSTEM, "input": prompt, "max_output_tokens": TOKENS, "temperature": 0}
    return asked | {"stream": True, "store": False}


def _gemini(_: str, prompt: str) -> Json:
    return {
        "systemInstruction": {"parts": [{"text": SYSTEM}]},
        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
        "generationConfig": {"maxOutputTokens": TOKENS, "temperature": 0},
    }


OTHER_BODIES: dict[str, Callable[[str, str], Json]] = {
    MESSAGES_PATH: _messages,
    RESPONSES_PATH: _responses,
    GEMINI_PATH: _gemini,
}


class Scenario(Struct, frozen=True, kw_only=True):
    """One thing that is measured."""

    name: str
    title: str
    connections: int
    stream: bool
    prompt: str
    path: str = "/v1/chat/completions"  # of another API, which says the same in its own words
    is_paced: bool = False  # the engine takes TOKEN_GAP_S for each token

    def request(self) -> bytes:
        """The whole HTTP request, the same every time."""
        body = self.body(MODEL)
        head = (
            f"POST {self.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer sk-benchmark\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def body(self, model: str) -> bytes:
        """Its JSON, for a model by this name."""
        if self.path in OTHER_BODIES:
            return json.dumps(OTHER_BODIES[self.path](model, self.prompt), separators=(",", ":")).encode()
        messages = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": self.prompt},
        ]
        fields = {"model": model, "messages": messages, "max_tokens": TOKENS, "temperature": 0}
        if self.stream:
            fields["stream"] = True
        if self.is_paced:
            fields["user"] = PACED_USER
        return json.dumps(fields, separators=(",", ":")).encode()


SHORT = "Explain in two sentences why a key-value cache makes decoding faster."
LONG = ("A long document is read to the model here. " * (PROMPT_BYTES // 43 + 1))[:PROMPT_BYTES]

REQUEST = Scenario(name="request", title="whole answers", connections=16, stream=False, prompt=SHORT)
STREAM = Scenario(name="stream", title=f"{TOKENS}-token streams", connections=16, stream=True, prompt=SHORT)
PROMPT = Scenario(name="prompt", title="400 KB prompts", connections=4, stream=False, prompt=LONG)
ALONE = Scenario(name="alone", title="one request at a time", connections=1, stream=False, prompt=SHORT)
HALF = Scenario(name="half", title="half of what it bears", connections=64, stream=False, prompt=SHORT)
PACED = Scenario(
    name="paced", title="streams at an engine's pace", connections=16, stream=True, prompt=SHORT, is_paced=True
)
MEASURED = (REQUEST, STREAM, PROMPT, ALONE, HALF, PACED)  # of every gateway
CROWD = Scenario(name="crowd", title="whole answers of many clients", connections=64, stream=False, prompt=SHORT)
APIS = tuple(
    Scenario(name=name, title=title, connections=16, stream=True, prompt=SHORT, path=path)
    for name, title, path in (
        ("messages", "Anthropic's Messages", MESSAGES_PATH),
        ("responses", "Responses, not kept", RESPONSES_PATH),
        ("gemini", "Gemini's API", GEMINI_PATH),
    )
)
SCENARIOS = {scenario.name: scenario for scenario in (*MEASURED, CROWD, *APIS)}
