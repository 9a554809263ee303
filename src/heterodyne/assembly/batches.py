"""What sees batches through, in the supervisor."""

import os
from pathlib import Path

from heterodyne.ports.document_store import DocumentStore
from heterodyne.stores.files.folder import FolderContents
from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.batches.clerk import BatchClerk
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner


def batch_clerk(owner: FleetOwner, documents: DocumentStore, run_dir: Path) -> BatchClerk:
    """Over the stores that are open; settings are as they are then."""
    state_dir = state_folder(os.environ)
    return BatchClerk(
        documents,
        FolderContents(state_dir / "files"),
        state_dir / "batches",
        run_dir,
        settings=lambda: owner.settings.batches,
        kept_days=lambda: owner.settings.gateway.stored_days,
    )
