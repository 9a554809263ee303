"""What policies look at comes in its order, however many turns of the loop it takes, and never after its end."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec

from heterodyne.gateway.stream_turns import SLICE_BYTES, TURN_S, WAITING_BYTES_MAX, StreamTurns


class Taker:
    """A relay, its owner and what policies do; a look at anything takes two turns' time."""

    owes = False

    def __init__(self) -> None:
        self.said: list[bytes] = []
        self.paused: list[bool] = []
        self.is_over = self.is_slow = False
        self.work: Any = None
        self.turns = StreamTurns(self)
        self.turns.begin(self, self)

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        return self.guard(data)

    def more(self, _: bytes = b"") -> tuple[bytes, ...]:
        raise AssertionError("nothing is owed")

    def try_ask(self, then: Callable[[], None]) -> Any:
        return None

    def guard(self, data: bytes) -> tuple[bytes, ...]:
        time.sleep(2 * TURN_S)
        return (data,)

    def look(self, data: bytes) -> None:
        self.said += self.turns.event(data)

    def say(self, edit: Callable[[bytes], tuple[bytes, ...]], data: bytes) -> None:
        self.said += edit(data)

    def pause(self) -> None:
        self.paused.append(True)

    def resume(self) -> None:
        self.paused.append(False)

    def wait_for(self, work: Any) -> None:
        self.work = work


def event(text: str) -> bytes:
    return msgspec.json.encode({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})


def words(events: list[bytes]) -> str:
    return "".join(msgspec.json.decode(one)["choices"][0]["delta"]["content"] for one in events)


async def wait_until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0)


async def test_what_is_short_is_looked_at_at_once() -> None:
    taker = Taker()
    taker.turns.take(event("hello"))
    assert words(taker.said) == "hello"
    assert not taker.turns.is_behind


async def test_a_long_event_takes_turns_and_what_comes_behind_it_waits() -> None:
    taker, turns = Taker(), 0
    text = "".join(str(number) for number in range(2000))
    taker.turns.event(event(text))  # as when the end of a long event has come
    taker.turns._go_on()
    taker.turns.take(event("behind"))
    ended: list[bool] = []
    taker.turns.end(lambda: ended.append(True))
    while not ended:
        before = len(taker.said)
        await asyncio.sleep(0)
        assert len(taker.said) - before <= 1
        turns += 1
    assert words(taker.said) == text + "behind"
    assert turns > 10
    assert taker.work is taker.turns


async def test_many_short_events_at_once_take_turns() -> None:
    taker = Taker()
    taker.look = lambda _: [taker.said.extend(taker.turns.event(event(word))) for word in "abc"]  # type: ignore[assignment,method-assign]
    taker.turns.take(b"three events")
    assert words(taker.said) in {"", "a"}, "none where the machine was elsewhere for a turn's time"
    await wait_until(lambda: not taker.turns.is_behind)
    assert words(taker.said) == "abc"


async def test_a_long_event_that_says_little_is_looked_at_at_once() -> None:
    taker = Taker()
    taker.guard = lambda data: (data,)  # type: ignore[method-assign]
    said = event("hello")
    choice = {"index": 0, "delta": {"content": "hello"}, "logprobs": {"content": ["x" * 5000]}, "finish_reason": None}
    taker.look = lambda data: taker.said.extend(taker.turns.event(data))  # type: ignore[method-assign,assignment]
    taker.turns.take(said)
    taker.turns._until_s = float("inf")
    assert len(taker.turns.event(msgspec.json.encode({"choices": [choice]}))) == 1


async def test_the_engine_waits_while_much_does() -> None:
    taker = Taker()
    taker.look = taker.guard  # type: ignore[assignment]
    taker.turns.take(b"x" * (WAITING_BYTES_MAX + 3 * SLICE_BYTES))
    assert taker.paused == [True]
    await wait_until(lambda: not taker.turns.is_behind)
    assert taker.paused == [True, False]


async def test_an_engine_whose_client_is_slow_waits_on() -> None:
    taker = Taker()
    taker.look = taker.guard  # type: ignore[assignment]
    taker.turns.take(b"x" * (WAITING_BYTES_MAX + 3 * SLICE_BYTES))
    taker.is_slow = True
    await wait_until(lambda: not taker.turns.is_behind)
    assert taker.paused == [True]


async def test_nothing_is_said_after_the_end() -> None:
    for leave in ("is_over", "cancel"):
        taker = Taker()
        taker.turns.take(b"".join(event("a") for _ in range(100)))
        taker.turns.event(event("b" * 5000))
        told = len(taker.said)
        ended: list[bool] = []
        taker.turns.end(lambda ended=ended: ended.append(True))
        if leave == "is_over":
            taker.is_over = True
        else:
            taker.turns.cancel()
        await asyncio.sleep(0.02)
        assert (len(taker.said), ended, taker.turns.is_behind) == (told, [], False)


class Owing(Taker):
    """Tells three parts in the place of each event, the first of which is asked to be judged elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.left: list[bytes] = []
        self.then: Callable[[], None] | None = None
        self.asks = 1
        self.cancelled = False

    def guard(self, data: bytes) -> tuple[bytes, ...]:
        self.left, self.owes = [data, data], True
        return (data,)

    def more(self, _: bytes = b"") -> tuple[bytes, ...]:
        made = self.left.pop()
        self.owes = bool(self.left)
        return (made,)

    def try_ask(self, then: Callable[[], None]) -> Any:
        if not self.asks:
            return None
        self.asks, self.then = self.asks - 1, then
        return self

    def cancel(self) -> None:
        self.cancelled = True


async def test_what_is_owed_of_an_event_comes_before_the_next_and_waits_for_what_is_judged_elsewhere() -> None:
    taker = Owing()
    taker.look = lambda data: taker.said.extend(taker.turns.event(data))  # type: ignore[method-assign]
    taker.turns.take(event("a"))
    taker.turns.take(event("b"))
    ended: list[bool] = []
    taker.turns.end(lambda: ended.append(True))
    for _ in range(5):
        await asyncio.sleep(0)
    assert (words(taker.said), taker.turns.is_behind) == ("a", True)
    assert taker.then is not None
    taker.then()
    await wait_until(lambda: bool(ended))
    assert words(taker.said) == "aaabbb"


async def test_what_is_judged_elsewhere_is_not_waited_for_when_the_client_has_left() -> None:
    taker = Owing()
    taker.look = lambda data: taker.said.extend(taker.turns.event(data))  # type: ignore[method-assign]
    taker.turns.take(event("a"))
    await wait_until(lambda: taker.then is not None)
    taker.turns.cancel()
    assert taker.cancelled
    assert not taker.turns.is_behind
