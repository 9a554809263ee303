"""The artifact that a pool may load: the one for its engine, signed and judged as this gateway demands."""

from heterodyne.domain.artifact import StoredArtifact
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.resolve import artifact_for
from heterodyne.registry.parity.gate import check_parity
from heterodyne.registry.settings import RegistrySettings
from heterodyne.registry.signing import check_signed


async def servable_artifact(
    catalog: Catalog, uri: str, engine: str, registry: RegistrySettings, *, parity_required: bool
) -> StoredArtifact:
    """Raises a HeterodyneError that says what is missing, and which command makes it."""
    stored = await artifact_for(catalog, uri, engine)
    check_signed(stored, registry.trusted_keys, is_required=registry.signatures_required)
    check_parity(stored, is_required=parity_required)
    return stored
