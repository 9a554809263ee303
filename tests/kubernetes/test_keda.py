"""KEDA's own questions, by code that is generated of its contract, have the autoscaler's counts as answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import UnknownName
from heterodyne.domain.fleet import PoolName
from heterodyne.fleet.kubernetes.keda import server
from heterodyne.fleet.kubernetes.keda.messages import MessageInvalid, metric_response, read_scaled_object
from heterodyne.fleet.kubernetes.keda.server import Wanted, serve_keda
from tests.support.keda.client import KedaClient, generated

WORDS = st.text(max_size=200)


@asynccontextmanager
async def asked(wanted: Wanted, pool: str = "chat") -> AsyncIterator[KedaClient]:
    bound: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve_keda("127.0.0.1", 0, wanted, bound=bound.set_result))
    async with grpc.aio.insecure_channel(f"127.0.0.1:{await bound}") as channel:
        yield KedaClient(channel, pool)
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving


@pytest.mark.parametrize("count", [0, 1, 7, 300])
async def test_keda_wants_as_many_as_the_autoscaler(count: int) -> None:
    async with asked({PoolName("chat"): count}.__getitem__) as keda:
        assert await keda.wanted() == count


async def test_a_stream_tells_when_a_pool_wakes_and_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOOK_S", 0.02)
    counts = {PoolName("chat"): 0}
    async with asked(counts.__getitem__) as keda:
        stream = keda.stub.StreamIsActive(keda.reference, timeout=10)
        told = []
        for count in (3, 2, 0):
            told.append((await stream.read()).result)
            counts[PoolName("chat")] = count
            if count == 2:  # it is awake either way
                await asyncio.sleep(0.1)
                counts[PoolName("chat")] = 0
        assert told == [False, True, False]
        stream.cancel()


async def test_a_pool_that_is_not_known_is_named() -> None:
    def unknown(pool: PoolName) -> int:
        raise UnknownName(f'no pool "{pool}"; there is chat')

    async with asked(unknown, "chta") as keda:
        with pytest.raises(grpc.aio.AioRpcError) as told:
            await keda.wanted()
        assert told.value.code() is grpc.StatusCode.NOT_FOUND
        assert told.value.details() == 'ScaledObject llm/chat: trigger metadata `pool`: no pool "chta"; there is chat'


async def test_what_is_not_known_yet_is_unavailable() -> None:
    def not_yet(pool: PoolName) -> int:
        raise LookupError(f"pools.{pool}: its workload was not read yet")

    async with asked(not_yet) as keda:
        with pytest.raises(grpc.aio.AioRpcError) as told:
            await keda.wanted()
        assert told.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_an_address_that_is_taken_is_said() -> None:
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    with pytest.raises(OSError, match=r"fleet\.keda_port"):
        await serve_keda("127.0.0.1", taken.sockets[0].getsockname()[1], lambda _: 0)
    taken.close()


@given(name=WORDS, namespace=WORDS, metadata=st.dictionaries(WORDS, WORDS, max_size=5))
def test_what_generated_code_writes_is_read(name: str, namespace: str, metadata: dict[str, str]) -> None:
    message = generated()[0].ScaledObjectRef(name=name, namespace=namespace, scalerMetadata=metadata)
    read = read_scaled_object(message.SerializeToString())
    assert (read.name, read.namespace, read.metadata) == (name, namespace, metadata)


@given(name=WORDS, count=st.integers(0, 100_000))
def test_what_is_written_generated_code_reads(name: str, count: int) -> None:
    (spec,) = generated()[0].GetMetricSpecResponse.FromString(metric_response(name, float(count))).metricSpecs
    (value,) = generated()[0].GetMetricsResponse.FromString(metric_response(name, float(count))).metricValues
    assert (spec.metricName, spec.targetSize, spec.targetSizeFloat) == (name, count, float(count))
    assert (value.metricName, value.metricValue, value.metricValueFloat) == (name, count, float(count))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    with suppress(MessageInvalid):
        read_scaled_object(data)
