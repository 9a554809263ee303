"""KEDA's side of an external scaler: code that is generated of the contract, and the rule that it scales by."""

import importlib.util
import sys
from functools import cache
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import grpc
from grpc_tools import protoc

from heterodyne.fleet.kubernetes import keda

PROTO = Path(keda.__file__).with_name("externalscaler.proto")


@cache
def generated() -> tuple[ModuleType, ModuleType]:
    """The messages and the stub."""
    with TemporaryDirectory() as folder:
        arguments = ["protoc", f"-I{PROTO.parent}", f"--python_out={folder}", f"--grpc_python_out={folder}", PROTO.name]
        assert protoc.main(arguments) == 0
        return _loaded(folder, "externalscaler_pb2"), _loaded(folder, "externalscaler_pb2_grpc")


def _loaded(folder: str, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(folder) / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class KedaClient:
    """One ScaledObject's trigger."""

    def __init__(self, channel: grpc.aio.Channel, pool: str) -> None:
        messages, services = generated()
        self._messages = messages
        self.stub: Any = services.ExternalScalerStub(channel)
        self.reference = messages.ScaledObjectRef(name="chat", namespace="llm", scalerMetadata={"pool": pool, "a": "ü"})

    async def wanted(self) -> int:
        """What its HorizontalPodAutoscaler wants, by the average value of the one metric."""
        (spec,) = (await self.stub.GetMetricSpec(self.reference, timeout=5)).metricSpecs
        request = self._messages.GetMetricsRequest(scaledObjectRef=self.reference, metricName=spec.metricName)
        (value,) = (await self.stub.GetMetrics(request, timeout=5)).metricValues
        assert value.metricName == spec.metricName
        assert (value.metricValue, spec.targetSize) == (round(value.metricValueFloat), round(spec.targetSizeFloat))
        if not (await self.stub.IsActive(self.reference, timeout=5)).result:
            return 0
        return ceil(value.metricValueFloat / spec.targetSizeFloat)
