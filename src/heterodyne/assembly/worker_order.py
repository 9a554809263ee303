"""What a gateway worker process is told on its standard input: a line to begin with, and one with every change."""

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import ModelRule, Replica


class WorkerOrder(Struct, frozen=True, kw_only=True):
    """Everything a worker needs, whole every time: of the files it reads none but the tenants'."""

    name: str
    settings: Settings
    replicas: tuple[Replica, ...]
    rules: dict[str, ModelRule]
    run_dir: str
    tenants: str = ""  # the file in the run folder that has them; empty: nobody keeps tenants
    version: int = 0  # of the fleet; a worker says which one it works by
