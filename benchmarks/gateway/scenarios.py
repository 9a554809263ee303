"""The request each measure repeats, and by how many connections at once."""

import json

from msgspec import Struct

from benchmarks.gateway.upstream import MODEL, TOKENS

PROMPT_BYTES = 400_000


class Scenario(Struct, frozen=True, kw_only=True):
    """One thing that is measured."""

    name: str
    title: str
    connections: int
    stream: bool
    prompt: str

    def request(self) -> bytes:
        """The whole HTTP request, the same every time."""
        body = self.body(MODEL)
        head = (
            "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer sk-benchmark\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def body(self, model: str) -> bytes:
        """Its JSON, for a model by this name."""
        messages = [
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": self.prompt},
        ]
        fields = {"model": model, "messages": messages, "max_tokens": TOKENS, "temperature": 0}
        if self.stream:
            fields["stream"] = True
        return json.dumps(fields, separators=(",", ":")).encode()


SHORT = "Explain in two sentences why a key-value cache makes decoding faster."
LONG = ("A long document is read to the model here. " * (PROMPT_BYTES // 43 + 1))[:PROMPT_BYTES]

REQUEST = Scenario(name="request", title="whole answers", connections=16, stream=False, prompt=SHORT)
STREAM = Scenario(name="stream", title=f"{TOKENS}-token streams", connections=16, stream=True, prompt=SHORT)
PROMPT = Scenario(name="prompt", title="400 KB prompts", connections=4, stream=False, prompt=LONG)
ALONE = Scenario(name="alone", title="one request at a time", connections=1, stream=False, prompt=SHORT)
HALF = Scenario(name="half", title="half of what it bears", connections=64, stream=False, prompt=SHORT)
MEASURED = (REQUEST, STREAM, PROMPT, ALONE, HALF)  # of every gateway
CROWD = Scenario(name="crowd", title="whole answers of many clients", connections=64, stream=False, prompt=SHORT)
SCENARIOS = {scenario.name: scenario for scenario in (*MEASURED, CROWD)}
