"""What an operator asks for, before anything is derived from it."""

from msgspec import Struct

from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
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
    draft: ModelSpec | None = None  # a small model that guesses ahead
    draft_weights: str | None = None
