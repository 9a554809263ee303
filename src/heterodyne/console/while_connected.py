"""Stops work when its client disconnects: a server does not cancel an endpoint when a connection closes."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from heterodyne.domain.errors import ClientGone

T = TypeVar("T")


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, which is cancelled when the client leaves; the body has been read before."""
    async with asyncio.TaskGroup() as group:
        leaving = group.create_task(_wait_gone(request))
        working = group.create_task(_settled(work))
        await asyncio.wait((leaving, working), return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        working.cancel()
    if working.cancelled():
        raise ClientGone("The client left before the answer was ready.")
    result = working.result()
    if isinstance(result, Exception):
        raise result
    return result


async def _wait_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _settled(work: Coroutine[Any, Any, T]) -> T | Exception:
    """What it raises as a value: a task group would wrap it."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001  # raised again where the result is awaited
        return error
