"""What a gateway worker process is told on its standard input."""

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import Replica


class WorkerOrder(Struct, frozen=True, kw_only=True):
    """Everything a worker needs: it reads no files and no environment of its own."""

    name: str
    settings: Settings
    replicas: tuple[Replica, ...]
    run_dir: str
