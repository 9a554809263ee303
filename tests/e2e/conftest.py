"""OpenAI's own clients, pointed at the served product."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from openai import AsyncOpenAI, OpenAI

from heterodyne.testing.serve_process import ServeProcess

AsyncClient = Callable[[], AbstractAsyncContextManager[AsyncOpenAI]]


@pytest.fixture(autouse=True)
def _nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test the shared gateway holds nothing for anybody; those of a test alone are asked as they end."""
    yield
    if "served" in request.fixturenames:
        served = request.getfixturevalue("served")
        (served if isinstance(served, ServeProcess) else served.serve).check_holdings()


@pytest.fixture(scope="session")
def client(served: ServeProcess) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0, timeout=100) as client:
        yield client


@pytest.fixture(scope="session")
def async_client(served: ServeProcess) -> AsyncClient:
    """Opens a client inside the test's own event loop."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[AsyncOpenAI]:
        async with AsyncOpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0, timeout=100) as client:
            yield client

    return opened
