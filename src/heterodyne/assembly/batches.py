"""What sees batches through, in the supervisor."""

import os
from pathlib import Path

from heterodyne.stores.files.open_contents import own_folder
from heterodyne.supervisor.batches.clerk import BatchClerk
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores

WORK = ".work"  # beside the files of the same database


def work_folder(url: str) -> Path:
    """Where batches of a database are worked off."""
    files = own_folder(url, os.environ)
    return files.with_name(f"{files.name}{WORK}")


def batch_clerk(owner: FleetOwner, stores: SupervisorStores, run_dir: Path) -> BatchClerk:
    """Over the stores that are open; settings are as they are then."""
    return BatchClerk(
        stores.documents,
        stores.contents,
        work_folder(owner.settings.stores.url),
        run_dir,
        settings=lambda: owner.settings.batches,
        kept_days=lambda: owner.settings.gateway.stored_days,
    )
