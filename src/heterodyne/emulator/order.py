"""What an emulator emulates: a model, its layout on chips, and its speed."""

from msgspec import Struct

from heterodyne.physics.memory import Layout
from heterodyne.physics.profile import ProfileMatch
from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.step_time import Speculation


class EmulatorOrder(Struct, frozen=True, kw_only=True):
    """One replica of one model under one engine."""

    layout: Layout
    found: ProfileMatch  # the profile its speed comes from
    scheduling: Scheduling
    served_model: str  # the name clients ask for
    context_tokens: int  # the longest sequence it takes
    engine_version: str = "emulated"
    output_tokens_mean: int = 256  # of answers that no limit cuts
    speed: float = 1.0  # how much faster than the real thing its clock runs
    speculation: Speculation | None = None
    adapters_max: int = 4  # LoRA adapters in memory at once
    adapters: tuple[str, ...] = ()  # of those, loaded from the start
    kv_link_bytes_per_s: float = 10e9  # at which KV is read from another engine
    slot_folder: str | None = None  # where llama.cpp saves slots; None: it does not
    kv_events: str | None = None  # where KV events are published; None: nowhere
    kv_events_replay: str | None = None  # where lost ones can be asked for; None: they cannot
