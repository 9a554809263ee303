"""A fleet of one model in which most replicas misbehave all the time, each in its own way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from heterodyne.testing import behaviours
from heterodyne.testing.dropping_server import DroppingServer
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine

TOKENS = 8
WORD = " hello"
GOOD_REPLICAS = 5
TOKEN_S = 0.002
SLOW_TOKEN_S = 0.02
SLOW_START_S = 0.15
FLAP_S = 0.1
LOST_S_MAX = 5.0  # nobody waits longer for a silent replica: every timeout of the gateway is shorter
ERROR = {"error": {"message": "CUDA error: out of memory", "type": "server_error", "code": 500}}


@asynccontextmanager
async def faulty_fleet() -> AsyncIterator[tuple[str, ...]]:
    """The addresses of its replicas, all of which look ready when the block begins."""
    async with AsyncExitStack() as stack:
        engines = {
            name: await stack.enter_async_context(ScriptedEngine(behaviour))
            for name, behaviour in {**{f"good {n}": _answer() for n in range(GOOD_REPLICAS)}, **FAULTS}.items()
        }
        unrest = [_change_health(engines["flapping health"]), _come_and_go(engines["comes and goes"])]
        tasks = [asyncio.create_task(one) for one in unrest]
        try:
            yield tuple(engine.url for engine in engines.values())
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(end, asyncio.CancelledError) for end in ends), ends


def _answer(*, start_s: float = 0.0, token_s: float = TOKEN_S) -> Behaviour:
    """Whole or streamed; an answer that another replica began is taken up where it broke off."""

    async def behave(call: EngineCall) -> None:
        await asyncio.sleep(start_s)
        try:
            await behaviours.stream(_tokens_left(call), delay_s=token_s, word=WORD)(call)
        except RuntimeError:
            if not call.was_cancelled:  # a closed transport takes no more words
                raise

    return behave


def _tokens_left(call: EngineCall) -> int:
    if not call.json.get("continue_final_message"):
        return TOKENS
    messages = call.json["messages"]
    assert isinstance(messages, list)
    return TOKENS - int(messages[-1]["content"].count(WORD))


def _begin_then(data: bytes, *, then: str) -> Behaviour:
    """Half an answer, then these bytes, then `close`, `reset`, or silence until the caller gives up."""

    async def behave(call: EngineCall) -> None:
        if call.json.get("stream"):
            call.head(200, *behaviours.EVENT_STREAM)
            for _ in range(_tokens_left(call) // 2):
                call.event(behaviours.chat_event(WORD))
        else:
            call.head(200, "content-type: application/json", "content-length: 4000")
            call.write(b'{"id": "chatcmpl-1", ')
        call.write(data)
        await _end(call, then)

    return behave


def _say_nothing(*, then: str) -> Behaviour:
    async def behave(call: EngineCall) -> None:
        await _end(call, then)

    return behave


def _fail_after_200() -> Behaviour:
    """Engines learn of it after the head of a stream is out; the head of a whole answer still tells."""

    async def behave(call: EngineCall) -> None:
        if call.json.get("stream"):
            call.head(200, *behaviours.EVENT_STREAM)
            call.event(ERROR)
            call.write(b"0\r\n\r\n")
        else:
            call.whole(500, ERROR)

    return behave


async def _end(call: EngineCall, then: str) -> None:
    match then:
        case "close":
            call.close()
        case "reset":
            call.reset()
        case "silence":
            with suppress(TimeoutError):
                async with asyncio.timeout(LOST_S_MAX):
                    while not call.was_cancelled:
                        await asyncio.sleep(0.02)


async def _change_health(engine: ScriptedEngine) -> None:
    while True:
        await asyncio.sleep(FLAP_S)
        engine.is_healthy = not engine.is_healthy


async def _come_and_go(engine: ScriptedEngine) -> None:
    """Answers for a while, then refuses connections, then takes each and drops it at once, then answers again."""
    while True:
        await asyncio.sleep(2 * FLAP_S)
        await engine.close()
        await asyncio.sleep(FLAP_S)
        rude = DroppingServer()
        try:
            await rude.open(engine.port)
            await asyncio.sleep(FLAP_S)
        finally:
            await rude.close()
        await engine.open()


FAULTS: dict[str, Behaviour] = {
    "slow": _answer(start_s=SLOW_START_S, token_s=SLOW_TOKEN_S),
    "flapping health": _answer(),
    "comes and goes": _answer(),
    "resets before headers": _say_nothing(then="reset"),
    "closes before headers": _say_nothing(then="close"),
    "200, then an error": _fail_after_200(),
    "429 with Retry-After": behaviours.refuse(429, "busy", "retry-after: 1"),
    "503 storm": behaviours.refuse(503, "overloaded"),
    "500": behaviours.refuse(500, "broken"),
    "stalls before the first token": _say_nothing(then="silence"),
    "stalls midway": _begin_then(b"", then="silence"),
    "breaks midway": _begin_then(b"", then="reset"),
    "ends too early": _begin_then(b"", then="close"),
    "malformed chunk": _begin_then(b"no chunk at all\r\n", then="close"),
    "malformed event": _begin_then(b'd\r\ndata: {"id:\n\n\r\n', then="close"),
}
