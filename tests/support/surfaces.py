"""Asks an emulator for its pages as a scraper or an operator would, over real HTTP."""

from typing import Any

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from heterodyne.emulator.server import EmulatorServer
from tests.support.raw_client import Answer, ask
from tests.support.requests import get, post

MODEL = "llama-3.1-8b"


async def page(server: EmulatorServer, path: str) -> Answer:
    """GET."""
    return await ask(server.port, get(path))


async def call(server: EmulatorServer, path: str, body: object = None) -> Answer:
    """POST, with a body or without."""
    return await ask(server.port, post(path, b"" if body is None else msgspec.json.encode(body)))


async def chat(server: EmulatorServer, content: str = "why is the sky blue?", **fields: object) -> Answer:
    """A chat completion."""
    body = {"model": MODEL, "messages": [{"role": "user", "content": content}], **fields}
    return await call(server, "/v1/chat/completions", body)


class Scrape:
    """A Prometheus page, parsed."""

    def __init__(self, text: bytes) -> None:
        self.families = {family.name: family for family in text_string_to_metric_families(text.decode())}
        self._samples = [sample for family in self.families.values() for sample in family.samples]

    @property
    def names(self) -> set[str]:
        """Of all samples."""
        return {sample.name for sample in self._samples}

    def value(self, name: str, **labels: str) -> float:
        """The one sample of this name that has these labels."""
        found = [one.value for one in self._samples if one.name == name and labels.items() <= one.labels.items()]
        assert len(found) == 1, f"{name} {labels}: {len(found)} samples"
        return found[0]

    def labels(self, name: str) -> dict[str, Any]:
        """Of the one sample of this name."""
        (found,) = [one.labels for one in self._samples if one.name == name]
        return found


async def scrape(server: EmulatorServer, path: str = "/metrics") -> Scrape:
    """The metrics page."""
    answer = await page(server, path)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return Scrape(answer.body)
