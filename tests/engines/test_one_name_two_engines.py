"""One model name over llama.cpp with its GGUF and vLLM with SafeTensors made from it, behind `heterodyne serve`."""

import http.client
import os
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.engines.catalogue import ENGINES
from heterodyne.engines.prometheus_page import read_page
from heterodyne.parity.limits import breaches_of, limits_of
from heterodyne.ports.engine import DeliveredText
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.registry.parity.judge import bench_for, measure
from heterodyne.registry.parity.llamacpp_process import running_llamacpp
from heterodyne.registry.parity.llamacpp_scorer import LlamaCppScorer
from heterodyne.registry.parity.vllm_scorer import VllmScorer
from heterodyne.testing.serve_process import ServeProcess
from tests.engines.running_vllm import CONTEXT_TOKENS, MODEL, RunningVllm

pytestmark = pytest.mark.timeout(600)
OTHER = {"vllm": "llamacpp", "llamacpp": "vllm"}
CONFIG = """
[routing]
slow_start_s = 0.001  # the first request is to go where the rule says, and both have only just begun

[pools.llamacpp]
model = "{model}"
engine = "llamacpp"
weights = "file:{gguf}"
context_tokens = {context}
region = "llamacpp"

[pools.vllm]
model = "{model}"
engine = "vllm"
urls = ["{url}"]
context_tokens = {context}
region = "vllm"

[models."{model}"]
regions_first = ["{first}"]
"""
STORY = [{"role": "user", "content": "Tell me a story about a lighthouse keeper and a whale."}]
TOKENS_BEFORE_KILL = 12
READY = "heterodyne_fleet_replica_ready"


class Fleet:
    """A served gateway over both engines, the first one preferred."""

    def __init__(self, serve: ServeProcess, vllm: RunningVllm, records: Path) -> None:
        self.serve, self.vllm = serve, vllm
        self._records = records
        self._llamacpp_port = serve.port_of("engine llamacpp-0")

    def wait_both(self) -> None:
        """One replica makes a model ready; here both have to be."""
        until_s = time.monotonic() + 60
        while _ready(self.serve.url) != set(OTHER):
            assert time.monotonic() < until_s, self.serve.log
            time.sleep(0.1)

    def stream(self, **fields: object) -> "Stream":
        return Stream(urlsplit(self.serve.url).netloc, fields)

    def last_record(self) -> RequestRecord:
        until_s = time.monotonic() + 5
        while not self._records.exists() or not (lines := self._records.read_bytes().splitlines()):
            assert time.monotonic() < until_s
            time.sleep(0.05)
        return msgspec.json.decode(lines[-1], type=RequestRecord)

    def running(self, engine: str) -> int | None:
        """What the engine itself counts."""
        if engine == "vllm":
            return self.vllm.load().running
        dialect = ENGINES[engine]
        return dialect.read_load([self._ask(engine, path, b"")[1] for path in dialect.load_paths]).running

    def kill(self, engine: str) -> None:
        if engine == "vllm":
            self.vllm.kill()
        else:
            os.kill(self.serve.pid_of("engine llamacpp-0"), signal.SIGKILL)

    def text_of(self, engine: str, request: Request) -> str:
        """What the engine answers a chat with."""
        return str(self.answer_of(engine, request)["choices"][0]["message"]["content"])

    def answer_of(self, engine: str, request: Request) -> Any:
        """Asked behind the gateway's back, in as many calls as its dialect takes."""
        dialect = ENGINES[engine]
        replica = Replica(
            id=ReplicaId("p-0"),
            pool=PoolName("p"),
            model=MODEL,
            engine=engine,
            host="h",
            port=1,
            context_tokens=CONTEXT_TOKENS,
        )
        answer: bytes | EngineRequest = dialect.call(request, replica)
        while isinstance(answer, EngineRequest):
            status, body = self._ask(engine, answer.path, answer.body)
            assert status == 200, body
            answer = dialect.answer(request, replica, body)
        return msgspec.json.decode(answer)

    def _ask(self, engine: str, path: str, body: bytes) -> tuple[int, bytes]:
        port = self.vllm.port if engine == "vllm" else self._llamacpp_port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=100)
        try:
            connection.request("POST" if body else "GET", path, body or None, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class Stream:
    """A streamed chat, event by event as they come."""

    def __init__(self, address: str, fields: dict[str, object]) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=100)
        body = body_of(stream=True, stream_options={"include_usage": True}, **fields)
        self._connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        self._answer = self._connection.getresponse()
        self.status = self._answer.status
        self.pool = self._answer.headers["x-heterodyne-pool"]
        self.pieces: list[tuple[str, str]] = []  # the engine that wrote it, what it wrote
        self.ids: set[str] = set()
        self.usage: dict[str, Any] = {}
        self.finish_reason: str | None = None
        self.has_ended = False

    def read(self, pieces: int | None = None) -> None:
        """Until there are so many pieces of text; without a number, to the end."""
        while not self.has_ended and (pieces is None or len(self.pieces) < pieces):
            line = self._answer.readline()
            assert line, f"the stream broke off after {self.text!r}"
            if line.startswith(b"data: "):
                self._take(line[6:].strip())
        if self.has_ended:
            self._answer.read()  # whoever closes before the body's end has left early, in the gateway's books
            self.close()

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)

    def written_by(self, engine: str) -> str:
        return "".join(text for writer, text in self.pieces if writer == engine)

    def close(self) -> None:
        self._answer.close()
        self._connection.close()

    def _take(self, data: bytes) -> None:
        self.has_ended = data == b"[DONE]"
        if self.has_ended:
            return
        event = msgspec.json.decode(data)
        assert "error" not in event, event
        self.ids.add(event["id"])
        self.usage = event.get("usage") or self.usage
        for choice in event["choices"]:
            self.finish_reason = choice["finish_reason"] or self.finish_reason
            if choice["delta"].get("content"):
                # llama.cpp signs every event, vLLM only those with a usage.
                writer = "llamacpp" if "system_fingerprint" in event else "vllm"
                self.pieces.append((writer, choice["delta"]["content"]))


def _ready(url: str) -> set[str]:
    """Pools whose replica the gateway sees ready."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
        page = read_page(answer.read(), (READY,))
    return {sample.labels["pool"] for sample in page.samples(READY) if sample.value}


def body_of(**fields: object) -> bytes:
    return msgspec.json.encode({"model": MODEL, "temperature": 0, "messages": STORY, **fields})


def whole(**fields: object) -> Request:
    return Request(id="1", operation=Operation.CHAT, model=MODEL, body=body_of(**fields))


@pytest.fixture
def fleet(vllm: RunningVllm, gguf_file: Path, tmp_path: Path) -> Callable[[str], Any]:
    @contextmanager
    def fleet(first: str) -> Iterator[Fleet]:
        records = tmp_path / "records"
        config = CONFIG.format(model=MODEL, gguf=gguf_file, url=vllm.url, context=CONTEXT_TOKENS, first=first)
        with ServeProcess(
            tmp_path, config=config, environment={"HETERODYNE_TELEMETRY__RECORDS": str(records)}
        ) as serve:
            serve.wait_ready()
            both = Fleet(serve, vllm, records)
            both.wait_both()
            yield both
            assert serve.stop() == 0, serve.log

    return fleet


@pytest.mark.parametrize("engine", ["llamacpp", "vllm"])
def test_one_name_streams_from_either_engine(fleet: Callable[[str], Any], engine: str) -> None:
    with fleet(engine) as both:
        stream = both.stream(max_tokens=40)
        stream.read()
        assert (stream.status, stream.pool, stream.finish_reason) == (200, engine, "length")
        assert {writer for writer, _ in stream.pieces} == {engine}
        assert len(stream.pieces) > 20, "it came in pieces"
        assert (stream.usage["completion_tokens"], len(stream.ids)) == (40, 1)
        assert stream.text == both.text_of(engine, whole(max_tokens=40))
        record = both.last_record()
        assert (record.pool, record.completion_tokens, record.continuations) == (engine, 40, 0)
        assert not record.is_estimated


def test_both_engines_say_the_same_as_nearly_as_four_bits_and_sixteen_can(
    vllm: RunningVllm, gguf_file: Path, folder: Path
) -> None:
    """Equal texts are not the property: where two tokens are nearly as likely, the last bit decides, and from there on
    they are two texts. That they part only there is."""
    bench = bench_for(folder)
    with running_llamacpp(gguf_file) as url, closing(LlamaCppScorer(url)) as llamacpp:
        found = {"llamacpp": measure(bench, llamacpp, "q8_0")}  # which computes four bits with eight
    with closing(VllmScorer(vllm.url, MODEL)) as scorer:
        found["vllm"] = measure(bench, scorer, "fp32")
    for engine, precision in (("llamacpp", "q8_0"), ("vllm", "fp32")):
        assert breaches_of(found[engine], limits_of(precision)) == (), found[engine]
        split, gap = found[engine].first_split, found[engine].first_split_gap_nats
        assert split is None or (gap is not None and gap <= limits_of(precision).tie_nats), found[engine]


def test_both_engines_cut_text_into_the_same_tokens(fleet: Callable[[str], Any]) -> None:
    words = [
        {"prompt": "The sea, 1234567 waves\n\n\tand  two   spaces; it's naïve: 海 🌊<|im_end|>\n"},
        {"prompt": "def wave(x):\n    return x ** 2  # ¼"},
        {"messages": STORY},
        {"messages": [{"role": "system", "content": "Be brief."}, *STORY]},
    ]
    with fleet("vllm") as both:
        for asked in words:
            body = msgspec.json.encode({"model": MODEL, **asked})
            request = Request(id="1", operation=Operation.TOKENIZE, model=MODEL, body=body)
            tokens = [both.answer_of(engine, request)["tokens"] for engine in OTHER]
            assert tokens[0] == tokens[1], asked
            assert len(tokens[0]) > 10


@pytest.mark.parametrize("engine", ["llamacpp", "vllm"])
def test_who_leaves_stops_the_engine_by_its_own_count(fleet: Callable[[str], Any], engine: str) -> None:
    with fleet(engine) as both:
        stream = both.stream(max_tokens=1500, ignore_eos=True)
        stream.read(pieces=3)
        assert (stream.pool, both.running(engine), both.running(OTHER[engine])) == (engine, 1, 0)
        stream.close()
        until_s = time.monotonic() + 10
        while both.running(engine):
            assert time.monotonic() < until_s
        assert both.last_record().completion_tokens < 1000


@pytest.mark.parametrize("engine", ["llamacpp", "vllm"])
def test_a_prompt_beyond_the_context_is_refused_in_the_same_words(fleet: Callable[[str], Any], engine: str) -> None:
    with fleet(engine) as both:
        connection = http.client.HTTPConnection(urlsplit(both.serve.url).netloc, timeout=60)
        body = body_of(messages=[{"role": "user", "content": "word " * (CONTEXT_TOKENS + 100)}])
        connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        error = msgspec.json.decode(answer.read())["error"]
        connection.close()
        assert (answer.status, error["code"]) == (400, "context_length_exceeded")


@pytest.mark.parametrize("killed", ["llamacpp", "vllm"])
def test_an_engine_killed_in_the_middle_of_an_answer_is_taken_over_by_the_other(
    fleet: Callable[[str], Any], killed: str
) -> None:
    with fleet(killed) as both:
        stream = both.stream(max_tokens=120)
        stream.read(pieces=TOKENS_BEFORE_KILL)
        both.kill(killed)
        stream.read()
        check_taken_over(both, stream, killed)


def test_a_vllm_whose_computing_process_dies_is_taken_over_too(fleet: Callable[[str], Any]) -> None:
    """Its server lives long enough to write an error and a proper end into the stream."""
    with fleet("vllm") as both:
        stream = both.stream(max_tokens=120)
        stream.read(pieces=TOKENS_BEFORE_KILL)
        both.vllm.kill_core()
        stream.read()
        check_taken_over(both, stream, "vllm")
        both.vllm.wait_ended()


def check_taken_over(both: Fleet, stream: Stream, killed: str) -> None:
    """One answer with one seam; behind it, what the other engine says when it is given what is before it."""
    survivor = OTHER[killed]
    before, after = stream.written_by(killed), stream.written_by(survivor)
    assert stream.text == before + after
    assert before
    assert after
    assert (stream.pool, stream.finish_reason, len(stream.ids)) == (killed, "length", 1)
    said = DeliveredText(before, sum(writer == killed for writer, _ in stream.pieces))
    continued = ENGINES[survivor].continuation(whole(max_tokens=120), said)
    assert continued is not None
    assert both.text_of(survivor, continued) == after
    record = both.last_record()
    assert (record.status, record.reason, record.continuations) == (200, "", 1)
    assert record.completion_tokens == stream.usage["completion_tokens"] == 120
