"""Lets a test be a coroutine: it runs on a uvloop of its own, as the gateway does, and never for long."""

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any

import pytest
import uvloop

TEST_TIMEOUT_S = 90.0  # on a busy machine


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def test_…`; leave the others to pytest."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    marker = pyfuncitem.get_closest_marker("timeout")
    uvloop.run(_bounded(pyfuncitem.obj(**arguments), marker.args[0] if marker else TEST_TIMEOUT_S))
    return True


async def _bounded(test: Coroutine[Any, Any, None], timeout_s: float) -> None:
    async with asyncio.timeout(timeout_s):
        await test
    await asyncio.sleep(0.005)  # sockets cut at the end close a few turns of the loop later
