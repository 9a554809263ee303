"""Guards that take their time look beside the worker alone, at short texts too, and at streams whole.

In the worker of these tests they fail as soon as they look; the process beside it has them as they are.
"""

import asyncio
from collections.abc import Collection
from itertools import product

import pytest
from msgspec import structs

from heterodyne.safety.finding import Finding
from heterodyne.safety.registry import GUARDS, Finder
from heterodyne.safety.settings import GuardSettings
from heterodyne.testing.behaviours import refuse
from tests.caching.test_answers_again import spoken
from tests.guards.calling_engine import MEMBERS, calling
from tests.guards.every_route import ASKED, request
from tests.guards.leaky_engine import saying
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import ask
from tests.support.requests import get
from tests.unit.safety.presidio.test_finder import INSTALLED

WORD = "falcon"
CHAT = ASKED[0]
WRITES = [asked for asked in ASKED if asked.speaks and asked.stream is not None and not asked.is_form]
TRANSCRIPTS = next(asked for asked in ASKED if asked.path == "/v1/audio/transcriptions")


def policy(action: str, guard: str = "words", **more: object) -> dict[str, GuardSettings]:
    words = (WORD,) if guard == "words" else ()
    return {"heavy": GuardSettings(guard=guard, action=action, words=words, **more)}


@pytest.fixture(autouse=True)
def heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    def looks_here(_: str) -> Collection[Finding]:
        raise AssertionError("it looks in the worker")

    kind = structs.replace(GUARDS["words"], make=lambda _: Finder(looks_here), is_heavy=True)
    monkeypatch.setitem(GUARDS, "words", kind)


async def test_a_short_request_is_looked_at_beside_the_worker() -> None:
    async with gateway_over(saying("fine"), guards=policy("block", direction="input")) as rig:
        answer = await ask(rig.port, request(CHAT, f"project {WORD}"))
        assert (answer.status, answer.error["param"], rig.engine.calls) == (400, "messages[0].content", [])
        assert (await ask(rig.port, request(CHAT, "hello"))).status == 200


@pytest.mark.parametrize(("action", "said"), [("block", "about "), ("mask", "about <BANNED_WORD_1> and so")])
async def test_an_answer_is_masked_or_cut_whole_and_streamed_in_every_api(action: str, said: str) -> None:
    async with gateway_over(saying(f"about {WORD}"), guards=policy(action)) as rig:
        for asked, stream in product(WRITES, (False, True)):
            answer = spoken(await ask(rig.port, request(asked, "hello", stream=stream)))
            assert WORD not in answer
            assert answer.startswith(said), asked.path
        for stream in (False, True):
            transcript = await ask(rig.port, request(TRANSCRIPTS, "hello", stream=stream))
            assert WORD.encode() not in transcript.body
            assert (b"<BANNED_WORD_1>" in transcript.body) is (action == "mask")


async def test_what_it_masks_in_a_request_is_put_back() -> None:
    async with gateway_over(saying("see <BANNED_WORD_1>", more=""), guards=policy("mask", direction="input")) as rig:
        for stream in (False, True):
            answer = await ask(rig.port, request(CHAT, f"project {WORD}", stream=stream))
            assert WORD.encode() not in rig.engine.calls[-1].body
            assert spoken(answer) == f"see {WORD}"


async def test_what_it_flags_passes_and_is_counted() -> None:
    async with gateway_over(saying(f"about {WORD}"), guards=policy("flag")) as rig:
        for count in (1, 2):
            answer = await ask(rig.port, request(CHAT, "hello", stream=count == 2))
            assert WORD in spoken(answer)
            async with asyncio.timeout(30):
                while await counted(rig) < count:
                    await asyncio.sleep(0.02)


@pytest.mark.parametrize("kind", MEMBERS)
async def test_what_it_flags_in_a_call_is_counted(kind: str) -> None:
    async with gateway_over(calling("shell", f"about {WORD}", kind=kind), guards=policy("flag")) as rig:
        for count in (1, 2):
            answer = await ask(rig.port, request(CHAT, "hello", stream=count == 2))
            assert b"shell" in answer.body
            async with asyncio.timeout(30):
                while await counted(rig) < count:
                    await asyncio.sleep(0.02)


async def counted(rig: Rig) -> float:
    """Verdicts that flag answers."""
    lines = (await ask(rig.port, get("/metrics"))).body.decode().splitlines()
    named = ("heterodyne_gateway_guard_verdicts_total{", 'policy="heavy"', 'action="flag"', 'direction="output"')
    return sum(float(line.rpartition(" ")[2]) for line in lines if all(one in line for one in named))


async def test_what_an_engine_says_of_a_failure_is_withheld() -> None:
    async with gateway_over(refuse(400, f"no {WORD}"), guards=policy("block")) as rig:
        answer = await ask(rig.port, request(CHAT, "hello"))
        assert WORD.encode() not in answer.body
        assert b"withheld by a policy" in answer.body


@INSTALLED
@pytest.mark.parametrize("stream", [False, True])
async def test_presidio_masks_requests_and_answers(stream: bool) -> None:
    guards = policy("mask", "presidio", kinds=("EMAIL_ADDRESS",))
    async with gateway_over(saying("ask <EMAIL_ADDRESS_1> or joe@example.org"), guards=guards) as rig:
        answer = await ask(rig.port, request(CHAT, "write to jane@example.com", stream=stream))
        assert answer.status == 200
        assert b"jane@example.com" not in rig.engine.calls[-1].body
        assert spoken(answer).startswith("ask jane@example.com or <EMAIL_ADDRESS_2>")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_long_transcript_is_looked_at_beside_the_worker_by_any_guard(
    monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    monkeypatch.setitem(GUARDS, "words", structs.replace(GUARDS["words"], is_heavy=False))
    said = f"{'Well, Anna said so 12 times. ' * 500} about {WORD}"
    async with gateway_over(saying(said), guards=policy("mask", direction="output")) as rig:
        transcript = await ask(rig.port, request(TRANSCRIPTS, "hello", stream=stream))
        assert transcript.status == 200
        assert WORD.encode() not in transcript.body
        assert b"about <BANNED_WORD_1>" in transcript.body
