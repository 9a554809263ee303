"""Whether an artifact has passed, in a few words."""

from heterodyne.domain.artifact import StoredArtifact


def parity_in_words(stored: StoredArtifact) -> str:
    """Whether it may serve, and why not."""
    if not stored.verdicts:
        return "-"
    failed = next((verdict for verdict in stored.verdicts if not verdict.has_passed), None)
    return "passed" if failed is None else f"failed: {failed.breaches[0]}"
