"""What sees batches through, in the supervisor."""

import os
from pathlib import Path

from heterodyne.stores.files.open_contents import own_folder
from heterodyne.supervisor.batches.clerk import BatchClerk
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores

WORK = ".work"  # beside the files of the same database


def batch_clerk(owner: FleetOwner, stores: SupervisorStores, run_dir: Path) -> BatchClerk:
    """Over the stores that are open; settings are as they are then."""
    files = own_folder(owner.settings.stores.url, os.environ)
    return BatchClerk(
        stores.documents,
        stores.contents,
        files.with_name(f"{files.name}{WORK}"),
        run_dir,
        settings=lambda: owner.settings.batches,
        kept_days=lambda: owner.settings.gateway.stored_days,
    )
