"""Pages written by hand from engines' documentation and source, or recorded: `pages/SOURCES.md` says which."""

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

PAGES = Path(__file__).parent / "pages"


class Refusal(NamedTuple):
    """An engine's error answer, and what it has to become."""

    status: int
    body: bytes
    ours: str
    our_status: int


class Health(NamedTuple):
    """An engine's health answer, and what it means."""

    status: int
    body: bytes
    is_ready: bool


def written(engine: str, name: str) -> bytes:
    """One page."""
    return (PAGES / engine / name).read_bytes()


def refusals() -> list[Any]:
    """Of every engine, for parametrised tests."""
    cases = []
    for file in sorted(PAGES.glob("*/refusals.json")):
        for case in msgspec.json.decode(file.read_bytes()):
            body = case["body"]
            raw = body.encode() if isinstance(body, str) else msgspec.json.encode(body)
            cases.append((file.parent.name, Refusal(case["status"], raw, case["ours"], case["our_status"])))
    return cases


OK, DOWN = Health(200, b"", True), Health(503, b"", False)
HEALTH: dict[str, tuple[Health, ...]] = {
    "openai": (Health(200, b'{"data":[]}', True), Health(401, b"{}", True), Health(500, b"", False)),
    "llamacpp": (
        Health(200, b'{"status":"ok"}', True),
        Health(503, b'{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}', False),
    ),
    "vllm": (OK, DOWN),
    "sglang": (OK, DOWN),
    "tensorrt-llm": (OK, DOWN),
    "tgi": (OK, Health(503, b'{"error":"unhealthy","error_type":"healthcheck"}', False)),
    "lmdeploy": (
        OK,  # older ones have an empty page
        Health(200, b'{"status":"healthy","message":"ok"}', True),
        Health(200, b'{"status":"sleeping","message":"Engine is sleeping."}', False),
        Health(503, b'{"status":"initializing","message":"Engine health monitor is starting."}', False),
        Health(200, b"<html>", False),
    ),
    "jetstream": (
        Health(200, b'{\n    "is_live": "True"\n}', True),
        Health(200, b'{\n    "is_live": "False"\n}', False),
        Health(200, b"", False),
        DOWN,
    ),
    "ollama": (Health(200, b'{"version":"0.34.0"}', True), DOWN),
    "open_inference": (
        OK,  # Triton and MLServer have an empty page
        Health(200, b'{"ready":true}', True),
        Health(400, b"", False),
        DOWN,
    ),
    "anthropic": (
        Health(200, b'{"data":[],"has_more":false}', True),
        Health(401, b"{}", True),
        Health(403, b"{}", True),
        Health(529, b"{}", False),
        DOWN,
    ),
    "gemini": (
        Health(200, b'{"models":[]}', True),
        Health(403, b"{}", True),
        Health(400, b'{"error":{"code":400,"message":"API key not valid."}}', False),
        DOWN,
    ),
    "azure-openai": (Health(200, b'{"data":[]}', True), Health(401, b"{}", True), DOWN),
    "bedrock": (OK, Health(403, b"{}", True), Health(404, b"{}", True), DOWN),
    "bedrock-converse": (
        Health(403, b'{"message":"Missing Authentication Token"}', True),
        Health(404, b"", True),
        DOWN,
    ),
    "transformers": (
        Health(200, b'{"status":"ok"}', True),
        Health(503, b'{"status":"unhealthy","reason":"cb_worker_dead"}', False),
    ),
    "mlx-lm": (Health(200, b'{"status": "ok"}', True), Health(503, b'{"status": "unavailable"}', False)),
}
