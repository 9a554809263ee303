"""What an operator asks for, before anything is derived from it."""

from msgspec import Struct

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.sustained import SHARE
from heterodyne.planning.launch.kv_exchange import KvExchange
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.planning.workload_class import WorkloadClass


class LaunchRequirements(Struct, frozen=True, kw_only=True):
    """One model on one kind of chip for one class of work. None: choose for me."""

    model: ModelSpec
    accelerator: Accelerator
    workload: WorkloadClass
    precision: Precision
    kv_precision: Precision | None = None
    engine: EngineKind | None = None
    tp: int | None = None
    context_tokens: int | None = None  # of the longest sequence
    usual_tokens: int | None = None  # of a usual sequence; None: as long as the longest
    sequences: int | None = None  # at once; None: as many as memory and the class allow
    weights: str | None = None  # a Hugging Face id or a path in the precision asked for; None: what is published
    published: str | None = None  # where the model's own checkpoint lies; None: where its makers put it
    slo: Slo | None = None  # that is promised; None: the class's
    share: float = SHARE  # of requests that it is promised to
    request: RequestShape | None = None  # a usual one; None: the class's
    name: str | None = None  # of the pool and its objects; None: made of model, chip and class
    draft: ModelSpec | None = None  # a small model that guesses ahead
    draft_weights: str | None = None
    kv: KvExchange | None = None  # with other replicas; None: it exchanges none
