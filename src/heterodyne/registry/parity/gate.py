"""An artifact that was found too far from what it was built from does not serve."""

from heterodyne.domain.artifact import IMPORTED, StoredArtifact
from heterodyne.domain.errors import SettingsInvalid


def check_parity(stored: StoredArtifact, *, is_required: bool) -> None:
    """Raise where a verdict says so, and where none says anything and one must."""
    artifact = stored.artifact
    command = f"`heterodyne parity {artifact.model}@{artifact.version}`"
    for verdict in stored.verdicts:
        if not verdict.has_passed:
            raise SettingsInvalid(f"{artifact.name} does not serve: {verdict.breaches[0]}; {command} judges it again")
    if is_required and not stored.verdicts and artifact.recipe.builder != IMPORTED:
        raise SettingsInvalid(f"{artifact.name} does not serve before it is judged; judge it with {command}")
