"""The walk of one streamed chat: which files it touches, and how often each is entered from another.

`python -m tests.architecture.walk --write` puts the numbers and the list into docs/architecture.md.
"""

import asyncio
import re
import sys
import textwrap
from collections import Counter

import msgspec

from heterodyne.testing.behaviours import EVENT_STREAM, chat_event, usage
from heterodyne.testing.scripted_engine import EngineCall
from tests.architecture import source
from tests.support import requests
from tests.support.file_tracer import tracing
from tests.support.gateways import gateway_over
from tests.support.raw_client import RawClient, connected

PAGE = source.ROOT / "docs" / "architecture.md"
BEGIN = "<!-- walk: written by `python -m tests.architecture.walk --write` -->"
END = "<!-- /walk -->"
COLUMNS = 100  # of a page

WIRE = "wire/"
APART = ("testing/",)  # the engine behind the gateway is a fake of this package
# What runs beside every request. What a request leaves for the tick, its record above all, does not count either.
BACKGROUND = frozenset(
    {
        "concurrency/deadline.py:Deadline._on_time",  # of a health probe
        "gateway/loop_lag.py:LoopLagMonitor._fire",
        "telemetry/loops.py:_await",  # ticks, health probes, leases
    }
)
STEADY = {"slow_start_s": 0.1}  # no replica has come up just now
FILES_WANTED, ENTRIES_WANTED = 45, 4
WARM_UP = 48  # requests until connections are open and the times of first tokens are known to routing and hedging
WALKS = 9  # the most frequent counts: not one that a pause of the machine fell into
WALKS_MAX = 200  # on a busy machine a health probe falls into nearly every one
PROBES = "control/"  # the room of what runs beside requests; none of them enters it
PAUSE_S = 0.02  # between the two writes of an answer, which makes them two reads


def walk() -> Counter[str]:
    """File to entries, of one request on an open connection to a gateway with two replicas."""
    return asyncio.run(_traced())


def numbers(entries: Counter[str]) -> tuple[int, int]:
    """How many files, and the entries of the file that is entered most, the wire apart."""
    return len(entries), max(count for file, count in entries.items() if not file.startswith(WIRE))


def page_part(entries: Counter[str]) -> str:
    """What stands between the markers of the page."""
    files, most = numbers(entries)
    often = sorted(
        f"`{file}`" for file, count in entries.items() if count > ENTRIES_WANTED and not file.startswith(WIRE)
    )
    rooms: dict[str, list[str]] = {}
    for file in sorted(entries):
        room, _, name = file.partition("/")
        rooms.setdefault(room, []).append(f"`{name.removesuffix('.py')}`")
    paragraphs = [
        f"One streamed chat touches **{files} files**; outside `wire/` none is entered more than **{most} times** from"
        " another file.",
        *(f"- `{room}/`: {' '.join(names)}" for room, names in rooms.items()),
    ]
    if often:
        paragraphs.append(f"Entered more than {ENTRIES_WANTED} times: {', '.join(often)}.")
    wrapped = [textwrap.fill(one, COLUMNS, subsequent_indent="  " * one.startswith("-")) for one in paragraphs]
    return re.sub(r"(?m)(^- .+(?:\n  .+)*)\n\n(?=- )", r"\1\n", "\n\n".join(wrapped))


def refreshed(page: str, entries: Counter[str]) -> str:
    """The page with the part between its markers written anew."""
    pattern = f"{re.escape(BEGIN)}.*{re.escape(END)}"
    part = f"{BEGIN}\n{page_part(entries)}\n{END}"
    found, count = re.subn(pattern, lambda _: part, page, flags=re.DOTALL)
    assert count == 1, f"{PAGE} has no markers"
    return found


async def _traced() -> Counter[str]:
    async with gateway_over(_answer, _answer, routing=STEADY) as rig, connected(rig.port) as client:
        for _ in range(WARM_UP):
            await _chat(client)
        walks: Counter[frozenset[tuple[str, int]]] = Counter()
        for _ in range(WALKS_MAX):
            entries = await _one(client)
            if not any(file.startswith(PROBES) for file in entries):
                walks[frozenset(entries.items())] += 1
            if walks.total() == WALKS:
                break
        return Counter(dict(walks.most_common(1)[0][0]))


async def _one(client: RawClient) -> Counter[str]:
    with tracing(background=BACKGROUND, apart=APART) as trace:
        await _chat(client)
    return trace.entries


async def _chat(client: RawClient) -> None:
    answer = await client.ask(requests.chat(stream=True))
    assert answer.text == "one two three"
    await asyncio.sleep(PAUSE_S)


async def _answer(call: EngineCall) -> None:
    """A stream in two writes: its head and first token, and the rest."""
    head = "".join(f"{line}\r\n" for line in ("HTTP/1.1 200 OK", *EVENT_STREAM, ""))
    call.write(head.encode() + _event(chat_event("one")))
    await asyncio.sleep(PAUSE_S)
    last = {**chat_event(None), "choices": [], "usage": usage(7, 3)}
    rest = (chat_event(" two"), chat_event(" three"), chat_event(None, finish_reason="stop"), last)
    call.write(b"".join(map(_event, rest)) + _chunk(b"data: [DONE]\n\n") + _chunk(b""))


def _event(data: object) -> bytes:
    return _chunk(b"data: " + msgspec.json.encode(data) + b"\n\n")


def _chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


if __name__ == "__main__":
    walked = walk()
    if "--write" in sys.argv:
        PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8"), walked), encoding="utf-8")
    for file, count in walked.most_common():
        print(f"{count:4} {file}")
    print(f"{numbers(walked)[0]} files, at most {numbers(walked)[1]} entries outside {WIRE}")
