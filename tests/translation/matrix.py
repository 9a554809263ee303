"""Runs cells of the matrix: a client through a chain to the engine at its end, and back."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from tests.support.gateways import Rig
from tests.translation.chains import chained, end_of
from tests.translation.clients import CLIENTS, Client
from tests.translation.drawing import Drawing
from tests.translation.expected import NAMED, Cell, Refusal, outcome
from tests.translation.meant import Broke, Refused
from tests.translation.scenarios import SCENARIOS, Step, meaning

EXAMPLES = 3  # conversations of a cell, each whole and streamed
CELL_TIMEOUT_S = 60.0  # on a busy machine
REFUSAL = "The picture is too small."
CALLERS, LIMITED, BUSY = 400, 429, 503
ERRORS = {CALLERS: 400, LIMITED: 429, BUSY: 503, 500: 502}  # what an engine answers, and what a client is told
OWN = ("vllm",)  # engines of one's own have no limits of rates: they are busy


class Ran:
    """What the cells of one client and engine showed; a failure is in place of an outcome."""

    def __init__(self) -> None:
        self.outcomes: dict[Cell, str] = {}
        self.requests: dict[Cell, int] = {}
        self.failures: dict[Cell, Exception] = {}


async def run_pair(client: str, engine: str) -> Ran:
    """Every scenario, through one chain as far as none breaks it."""
    ran = Ran()
    async with chained(engine) as (rig, url):
        asking = CLIENTS[client](url)
        try:
            for scenario in SCENARIOS:
                cell = (client, engine, scenario)
                await _run(ran, cell, partial(_converse, cell, asking, rig))
            cell = (client, engine, "cancel")
            await _run(ran, cell, partial(_leave, cell, asking, rig))
        finally:
            await asking.close()
    cell = (client, engine, "error")
    await _run(ran, cell, partial(_fail, client, engine))
    return ran


async def _run(ran: Ran, cell: Cell, run: Callable[[], Awaitable[int]]) -> None:
    try:
        async with asyncio.timeout(CELL_TIMEOUT_S):
            ran.requests[cell] = await run()
        ran.outcomes[cell] = outcome(cell)
    except Exception as error:  # noqa: BLE001  # the other cells are run all the same
        ran.failures[cell] = error


async def _converse(cell: Cell, client: Client, rig: Rig) -> int:
    """The number of requests that behaved as the table says."""
    drawing = Drawing("/".join(cell))
    count = named = 0
    for _ in range(EXAMPLES):
        for step in SCENARIOS[cell[2]](drawing, cell[0], cell[1]):
            for stream in (False, True):
                rig.engine.behaviour = end_of(cell[1]).saying(step.said, drawing)
                named += await _is_named(cell, client, rig, step, stream=stream)
                count += 1
    assert (named > 0) == (cell in NAMED), "the table says more than happens"
    return count


async def _is_named(cell: Cell, client: Client, rig: Rig, step: Step, *, stream: bool) -> bool:
    """Ask, and compare both ends; True: something was named as not carried, or refused."""
    expected = NAMED.get(cell)
    before = len(rig.engine.calls)
    if isinstance(expected, Refusal):
        error = await _error(client, step, stream=stream)
        assert isinstance(error, Refused), f"{expected.path} was told as {error!r}"
        assert error.status == CALLERS, f"{expected.path} was told as {error}"
        assert expected.path in error.message, f"{expected.path} is not in {error}"
        assert len(rig.engine.calls) == before, "the engine was asked all the same"
        return True
    said = await client.ask(step.asked, stream=stream)
    [call] = rig.engine.calls[before:]
    end = end_of(cell[1])
    assert call.path == end.path(stream=stream)
    meant = meaning(step.asked)
    carried = meant if expected is None else expected.without(meant)
    got = end.asked_of(call.body)
    assert got == carried, f"asked {carried}, arrived {got}"
    assert said == step.said, f"said {step.said}, heard {said}"
    named = expected.path if expected is not None and carried != meant else ""
    assert client.not_carried == named, f"{named!r} is expected to be named, not {client.not_carried!r}"
    return carried != meant


async def _leave(cell: Cell, client: Client, rig: Rig) -> int:
    drawing = Drawing("/".join(cell))
    rig.engine.behaviour = end_of(cell[1]).talking()
    for _ in range(2):
        [step] = SCENARIOS["text"](drawing, cell[0], cell[1])
        await client.leave(step.asked)
        await rig.wait_cancelled(CELL_TIMEOUT_S)
    return 2


async def _fail(client: str, engine: str) -> int:
    """Each in a chain of its own, for a replica that failed is asked less; the caller's own mistakes harm none."""
    drawing = Drawing(f"{client}/{engine}/error")
    [step] = SCENARIOS["text"](drawing, client, engine)
    for status, told in ERRORS.items():
        async with chained(engine) as (rig, url):
            asking = CLIENTS[client](url)
            try:
                rig.engine.behaviour = end_of(engine).refusing(status, REFUSAL)
                for stream in (False, True) if status == CALLERS else (drawing.random.random() < 0.5,):
                    error = await _error(asking, step, stream=stream)
                    expected = BUSY if status == LIMITED and engine in OWN else told
                    assert isinstance(error, Refused), f"{status} was told as {error!r}"
                    assert error.status == expected, f"{status} was told as {error}"
                    assert status != CALLERS or REFUSAL in error.message, f"other words: {error}"
                if status == CALLERS:
                    rig.engine.behaviour = end_of(engine).breaking()
                    error = await _error(asking, step, stream=True)
                    assert isinstance(error, Broke), f"a stream that broke was told as {error!r}"
            finally:
                await asking.close()
    return len(ERRORS) + 2


async def _error(client: Client, step: Step, *, stream: bool) -> Exception:
    try:
        await client.ask(step.asked, stream=stream)
    except (Refused, Broke) as error:
        return error
    raise AssertionError("an error was told as an answer")
