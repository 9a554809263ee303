"""Whether an artifact has passed, in a few words."""

from heterodyne.registry.catalog.facts import ArtifactFacts, ParityState


def parity_in_words(artifact: ArtifactFacts) -> str:
    """Whether it may serve, and why not."""
    if artifact.parity is ParityState.UNJUDGED:
        return "-"
    return f"failed: {artifact.parity_why}" if artifact.parity is ParityState.FAILED else "passed"
