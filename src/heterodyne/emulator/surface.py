"""What one engine answers besides its generating routes: health, models, metrics, control calls."""

from collections.abc import Callable, Iterable

from msgspec import Struct
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric

from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.emulator.faults import Lie
from heterodyne.emulator.generation import Generation
from heterodyne.emulator.response import TEXT, EmulatorResponse, Refusal
from heterodyne.wire.message import HttpRequest


class ReportedLoad(Struct, frozen=True, kw_only=True):
    """What an engine reports of its own load; a lie differs here and nowhere else."""

    running: int
    waiting: int
    kv_share: float


IDLE = ReportedLoad(running=0, waiting=0, kv_share=0.0)

EmulatorEndpoint = Callable[[EmulatedEngine, HttpRequest], EmulatorResponse]
Routes = dict[tuple[bytes, bytes], EmulatorEndpoint]  # by method and path
MetricFamilies = Callable[[EmulatedEngine, ReportedLoad], Iterable[Metric]]
EngineFields = Callable[[EmulatedEngine, Generation], dict[str, object]]


class Surface(Struct, frozen=True, kw_only=True):
    """One engine's endpoints by method and path, and its behaviour where engines differ."""

    health_paths: tuple[bytes, ...]
    metrics_path: bytes
    families: MetricFamilies  # of its metrics page
    endpoints: Routes  # all others
    error: Callable[[Refusal], EmulatorResponse]
    refuses_asleep: bool = True  # False: a request to a sleeping engine waits for it to wake
    extra_fields: EngineFields | None = None  # fields that the end of an answer has besides OpenAI's

    @property
    def routes(self) -> Routes:
        """Every page."""
        return {**self.endpoints, (b"GET", self.metrics_path): lambda engine, _: self._metrics(engine)}

    def _metrics(self, engine: EmulatedEngine) -> EmulatorResponse:
        registry = CollectorRegistry()
        registry.register(_Collector(self.families, engine, load_of(engine)))
        return EmulatorResponse(body=generate_latest(registry), kind=TEXT)


def load_of(engine: EmulatedEngine) -> ReportedLoad:
    """The truth, unless the fault is set that makes the engine seem idle."""
    if engine.faults.lie is Lie.IDLE:
        return IDLE
    machine = engine.machine
    return ReportedLoad(running=machine.running, waiting=machine.waiting, kv_share=machine.kv_share)


class _Collector:
    def __init__(self, families: MetricFamilies, engine: EmulatedEngine, load: ReportedLoad) -> None:
        self._families = families
        self._engine = engine
        self._load = load

    def collect(self) -> Iterable[Metric]:
        return self._families(self._engine, self._load)
