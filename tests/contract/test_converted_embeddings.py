"""A BERT from the registry embeds texts in llama.cpp as the reference says."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from heterodyne.domain.artifact import StoredArtifact, WeightFormat
from heterodyne.domain.errors import UnknownName
from heterodyne.registry.catalog.build import BuildRequest, build_artifact
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.importing import import_version
from heterodyne.registry.catalog.reference import read_reference
from heterodyne.registry.catalog.resolve import served_path
from heterodyne.registry.conversion.bert_gguf import BertConfig
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.registry.reference.bert_forward import embedding
from heterodyne.registry.settings import RegistrySettings
from heterodyne.registry.tensors.checkpoint import open_checkpoint
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues
from heterodyne.registry.weights import obtain_source
from tests.support.catalogs import opened_catalog
from tests.support.llamacpp_embeddings import embedding_llamacpp
from tests.support.tiny_bert import tiny_bert

SAME = 0.999  # cosine: llama.cpp has matrices in 16 bits and a gelu of its own
SENTENCES = ("The sea is calm.", "A calm, quiet ocean.", "The committee met on Tuesday to discuss the budget.")


async def built(catalog: Catalog, folder: Path, precision: str = "fp16") -> StoredArtifact:
    version, _ = await import_version(catalog, read_reference("bert"), folder, f"file:{folder}")
    request = BuildRequest(version=version, format=WeightFormat.GGUF, precision=precision)
    return (await build_artifact(catalog, request))[0]


def expected(folder: Path, tokens: list[int]) -> np.ndarray:
    config = msgspec.json.decode((folder / "config.json").read_bytes(), type=BertConfig)
    return embedding(config, CheckpointValues(open_checkpoint(folder)), tokens)


@pytest.mark.parametrize("prefix", ["", "bert."])
async def test_llamacpp_embeds_as_the_reference(prefix: str, tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "model", prefix)
    async with opened_catalog(tmp_path) as catalog:
        stored = await built(catalog, folder)
        assert stored.artifact.recipe.builder == "bert-to-gguf"
        path = served_path(await catalog.local(stored), stored)
    with embedding_llamacpp(path, context_tokens=64) as engine:
        for text, tokens in (("playing.", [2, 5, 6, 12, 3]), ("the sea is calmer", [2, 7, 8, 9, 10, 11, 3])):
            assert engine.tokens(text) == tokens
            assert engine.embedding(text) @ expected(folder, tokens) >= SAME


async def test_the_default_embedding_model_is_itself_in_llamacpp(tmp_path: Path) -> None:
    pool = DEFAULT_POOLS["embeddings"]
    assert pool.weights
    folder = obtain_source(pool.weights, pool.weights_sha256, RegistrySettings(), lambda *_: None)
    async with opened_catalog(tmp_path) as catalog:
        stored = await built(catalog, folder)
        path = served_path(await catalog.local(stored), stored)
    with embedding_llamacpp(path, context_tokens=512) as engine:
        found = [engine.embedding(text) for text in SENTENCES]
        for text, vector in zip(SENTENCES, found, strict=True):
            assert vector @ expected(folder, engine.tokens(text)) >= SAME
    assert found[0] @ found[1] > 0.5 > found[0] @ found[2], "like meanings are near"


async def test_the_same_bert_gives_the_same_bytes_and_no_decoder_is_made_of_it(tmp_path: Path) -> None:
    folder, digests = tiny_bert(tmp_path / "model"), []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        async with opened_catalog(tmp_path / name) as catalog:
            digests.append((await built(catalog, folder)).artifact.digest)
            with pytest.raises(UnknownName, match='no builder makes gguf of the precision "q8_0"; fp16 are made'):
                await built(catalog, folder, "q8_0")
    assert digests[0] == digests[1]
