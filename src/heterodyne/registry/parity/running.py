"""An artifact, run by what is here for its format."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from heterodyne.domain.artifact import StoredArtifact, WeightFormat
from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.catalog.resolve import served_path
from heterodyne.registry.parity.llamacpp_process import running_llamacpp
from heterodyne.registry.parity.llamacpp_scorer import LlamaCppScorer
from heterodyne.registry.parity.reference_scorer import jax_scorer, reference_scorer
from heterodyne.registry.parity.scorer import Scorer


@contextmanager
def running(stored: StoredArtifact, folder: Path) -> Iterator[Scorer]:
    """A GGUF in llama.cpp, SafeTensors in the reference pass, Orbax there in JAX. Raises where nothing here runs it."""
    format = stored.artifact.format
    if format is WeightFormat.SAFETENSORS:
        yield reference_scorer(folder)
    elif format is WeightFormat.ORBAX:
        yield jax_scorer(folder)
    elif format is WeightFormat.GGUF:
        with running_llamacpp(served_path(folder, stored)) as url, closing(LlamaCppScorer(url)) as scorer:
            yield scorer
    else:
        raise WeightsUnavailable(f"{stored.artifact.name}: nothing here runs {format}; judge it as an engine serves it")
