"""From a file to a version, its artifacts and back to files: found by name, made once, right to the byte."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from heterodyne.domain.artifact import ModelVersion, StoredArtifact, WeightFormat
from heterodyne.domain.errors import OperatorError, SettingsInvalid, UnknownName, WeightsCorrupt, WeightsUnavailable
from heterodyne.registry import signing
from heterodyne.registry.catalog.affinity import affinity_of
from heterodyne.registry.catalog.build import BuildRequest, build_artifact, staging_folders
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.collect import collect, remove_version
from heterodyne.registry.catalog.export import MANIFEST, export
from heterodyne.registry.catalog.importing import import_version
from heterodyne.registry.catalog.reference import VersionReference, names_version, read_reference, read_uri
from heterodyne.registry.catalog.resolve import artifact_for, served_path
from heterodyne.registry.catalog.verify import verify
from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf
from heterodyne.registry.tensors.checkpoint import open_checkpoint
from tests.support.catalogs import opened_catalog
from tests.support.tiny_models import tiny_model

GGUF, SAFETENSORS = WeightFormat.GGUF, WeightFormat.SAFETENSORS


async def imported(catalog: Catalog, path: Path, name: str = "tiny") -> tuple[ModelVersion, StoredArtifact]:
    return await import_version(catalog, read_reference(name), path, f"file:{path}")


async def built(
    catalog: Catalog, version: ModelVersion, format: WeightFormat = GGUF, precision: str = "q8_0"
) -> StoredArtifact:
    return (await build_artifact(catalog, BuildRequest(version=version, format=format, precision=precision)))[0]


async def test_a_folder_becomes_a_version_with_what_it_says_of_itself(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    (model / "README.md").write_text("---\nlicense: mit\ntags: [x]\n---\n# A model\n")
    (model / "modeling_tiny.py").write_text("raise SystemExit('never run')")
    async with opened_catalog(tmp_path) as catalog:
        version, stored = await imported(catalog, model)
        assert (version.name, version.licence, version.facts["layers"]) == ("tiny@v1", "mit", "2")
        assert (stored.artifact.format, stored.artifact.precision) == (SAFETENSORS, "fp32")
        names = [file.path for file in stored.artifact.files]
        assert names == ["README.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
        assert await catalog.version("tiny") == await catalog.version("tiny@v1") == version


async def test_the_same_weights_are_the_same_version_and_others_another(tmp_path: Path) -> None:
    one, other = tiny_model(tmp_path / "one"), tiny_model(tmp_path / "other", seed=8)
    async with opened_catalog(tmp_path) as catalog:
        first, _ = await imported(catalog, one)
        again, _ = await imported(catalog, shutil.copytree(one, tmp_path / "copy"))
        assert again == first
        second, _ = await imported(catalog, other)
        assert (second.version, (await catalog.version("tiny")).version) == ("v2", "v2")
        with pytest.raises(SettingsInvalid, match="tiny@v1 is there already, with other weights"):
            await imported(catalog, tiny_model(tmp_path / "third", seed=9), "tiny@v1")
        with pytest.raises(SettingsInvalid, match="these weights are tiny@v1 already"):
            await imported(catalog, one, "tiny@other")


async def test_every_build_starts_from_what_was_imported_and_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    safetensors_to_gguf(tiny_model(tmp_path / "model"), path, "q8_0")
    async with opened_catalog(tmp_path) as catalog:
        version, source = await imported(catalog, path)
        canonical = await built(catalog, version, SAFETENSORS, "fp16")
        assert canonical.artifact.recipe.inputs == (source.artifact.digest,)
        request = BuildRequest(version=version, format=GGUF, precision="q4_0")
        (made, is_new), (found, is_again) = [await build_artifact(catalog, request) for _ in range(2)]
        assert (is_new, is_again, found) == (True, False, made)
        assert made.artifact.recipe.inputs == (canonical.artifact.digest,)
        assert made.provenance.tools.keys() >= {"heterodyne", "numpy", "gguf"}
        assert staging_folders(catalog) == []
        halved = await built(catalog, version, SAFETENSORS, "bf16")
        opened = open_checkpoint(await catalog.local(halved))
        assert {opened.place(name).dtype for name in opened.names} == {"BF16"}
        assert opened.config["dtype"] == "bfloat16"


async def test_two_registries_make_the_same_bytes(tmp_path: Path) -> None:
    model, found = tiny_model(tmp_path / "model"), []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        async with opened_catalog(tmp_path / name) as catalog:
            version, _ = await imported(catalog, model)
            found.append([(await built(catalog, version, GGUF, one)).artifact for one in ("fp16", "q8_0", "q4_k_m")])
    assert found[0] == found[1]
    assert [one.digest for one in found[0]] == [one.digest for one in found[1]]


async def test_a_build_that_cannot_be_is_refused_with_those_that_can(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as catalog:
        version, _ = await imported(catalog, tiny_model(tmp_path / "model"))
        with pytest.raises(UnknownName, match='"int3"; fp32, fp16'):
            await built(catalog, version, GGUF, "int3")
        with pytest.raises(UnknownName, match="no builder makes onnx of safetensors"):
            await built(catalog, version, WeightFormat.ONNX, "fp16")
        request = BuildRequest(version=version, format=GGUF, precision="q8_0", settings={"speed": "11"})
        with pytest.raises(UnknownName, match='no setting "speed"'):
            await build_artifact(catalog, request)


async def test_a_full_disk_is_noticed_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened_catalog(tmp_path) as catalog:
        version, _ = await imported(catalog, tiny_model(tmp_path / "model"))
        usage = shutil.disk_usage(tmp_path)._replace(free=1000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(WeightsUnavailable, match=r"0\.0 GB are free there"):
            await built(catalog, version)
        monkeypatch.undo()
        assert (await built(catalog, version)).artifact.precision == "q8_0", "and there is room again"


async def test_a_pool_gets_the_artifact_for_its_engine_or_the_command_that_makes_it(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as catalog:
        version, source = await imported(catalog, tiny_model(tmp_path / "model"))
        assert await artifact_for(catalog, "registry:tiny", "vllm") == source
        with pytest.raises(UnknownName, match="`heterodyne models build tiny@v1 --format gguf`"):
            await artifact_for(catalog, "registry:tiny", "llamacpp")
        made = await built(catalog, version)
        assert await artifact_for(catalog, "registry:tiny@v1#q8_0", "llamacpp") == made
        assert served_path(await catalog.local(made), made).name == "tiny.q8_0.gguf"
        assert served_path(await catalog.local(source), source).is_dir()
        with pytest.raises(UnknownName, match="--format gguf --precision q4_0`"):
            await artifact_for(catalog, "registry:tiny#q4_0", "llamacpp")
        with pytest.raises(SettingsInvalid, match="no format that the engine openai"):
            await artifact_for(catalog, "registry:tiny", "openai")
        by = {(row.hardware, row.format): row for row in affinity_of(version, await catalog.artifacts(version))}
        assert by["cpu", GGUF].there == ("q8_0",)
        assert "q4_k_m" in by["cpu", GGUF].buildable
        compiled = by["nvidia", WeightFormat.TENSORRT_LLM]
        assert compiled.buildable == ("fp16", "bf16", "int8", "fp8")
        command = "heterodyne models build tiny@v1 --format tensorrt-llm --precision fp8 --hardware CHIP"
        assert compiled.commands[-1] == command
        assert all("--hardware" not in command for command in by["cpu", GGUF].commands)


async def test_names_that_are_not_there_get_the_nearest(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as catalog:
        await imported(catalog, tiny_model(tmp_path / "model"))
        with pytest.raises(UnknownName, match='did you mean "tiny"'):
            await catalog.version("tinny")
        with pytest.raises(UnknownName, match="it has v1"):
            await catalog.version("tiny@v2")
    for wrong in ("", "@v1", "a b", "a@", "a/b", "..", "a@b@c"):
        with pytest.raises(SettingsInvalid, match="NAME or NAME@VERSION"):
            read_reference(wrong)
    assert read_uri("registry:a@b#q8_0") == (VersionReference("a", "b"), "q8_0")
    assert read_uri("registry:a") == (VersionReference("a"), None)
    assert not names_version("file:registry")


async def test_every_byte_is_verified(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as catalog:
        _, stored = await imported(catalog, tiny_model(tmp_path / "model"))
        assert [one.problem for one in await verify(catalog, [stored])] == [None]
        file = next(one for one in stored.artifact.files if one.path == "model.safetensors")
        blob = tmp_path / "blobs" / file.sha256[:2] / file.sha256
        content = bytearray(blob.read_bytes())
        content[-1] ^= 1
        blob.chmod(0o644)
        blob.write_bytes(content)
        (found,) = await verify(catalog, [stored])
        assert found.problem is not None
        assert found.problem.startswith("model.safetensors: its SHA-256 is")
        blob.write_bytes(content[:-1])
        (found,) = await verify(catalog, [stored])
        assert found.problem is not None
        assert "was cut" in found.problem


async def test_an_export_is_whole_and_says_what_it_is(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    async with opened_catalog(tmp_path) as catalog:
        _, stored = await imported(catalog, model)
        await export(catalog, stored, tmp_path / "out")
        assert (tmp_path / "out" / "model.safetensors").read_bytes() == (model / "model.safetensors").read_bytes()
        assert json.loads((tmp_path / "out" / MANIFEST).read_text())["artifact"]["version"] == "v1"
        with pytest.raises(SettingsInvalid, match="not empty"):
            await export(catalog, stored, tmp_path / "out")


async def test_an_artifact_nobody_vouches_for_is_refused_where_somebody_must(tmp_path: Path) -> None:
    public, stranger = (signing.new_key(tmp_path / name) for name in ("key.pem", "other.pem"))
    async with opened_catalog(tmp_path) as catalog:
        version, stored = await imported(catalog, tiny_model(tmp_path / "model"))
        signing.check_signed(stored, [public], is_required=False)
        with pytest.raises(SettingsInvalid, match="tiny@v1 safetensors fp32 is not signed"):
            signing.check_signed(stored, [public], is_required=True)
        digest = stored.artifact.digest
        await catalog.store.sign(digest, signing.signature_of(signing.read_key(tmp_path / "key.pem"), digest, 1.0))
        (signed,) = await catalog.artifacts(version)
        signing.check_signed(signed, [stranger, public], is_required=True)
        assert signing.trusted_signers(signed, [stranger]) == ()
        # A signature of other bytes vouches for nothing.
        other = signing.signature_of(signing.read_key(tmp_path / "key.pem"), "0" * 64, 1.0)  # type: ignore[arg-type]
        await catalog.store.sign(digest, other)
        (forged,) = await catalog.artifacts(version)
        assert signing.trusted_signers(forged, [public]) == ()
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    (tmp_path / "no.pem").write_text("nothing")
    for name, words in (("no.pem", "not a private key"), ("absent.pem", "cannot be read")):
        with pytest.raises(SettingsInvalid, match=words):
            signing.read_key(tmp_path / name)


async def test_what_is_removed_is_collected_and_nothing_that_is_referred_to(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as catalog:
        one, _ = await imported(catalog, tiny_model(tmp_path / "one"))
        two, kept = await imported(catalog, tiny_model(tmp_path / "two", seed=8))
        await catalog.local(await built(catalog, one))
        with pytest.raises(SettingsInvalid, match="in use: the pool chat refers to it"):
            await remove_version(catalog, "tiny@v1", {"tiny@v1": "the pool chat"})
        assert await remove_version(catalog, "tiny@v1", {"tiny@v2": "the pool chat"}) == 2
        first = await collect(catalog)
        assert (first.served, first.blobs) == (2, 0), "bytes that were put a moment ago stay"
        dry = await collect(catalog, grace_s=-1, is_dry=True)
        done = await collect(catalog, grace_s=-1)
        assert dry == done
        assert {sha256 for sha256, _ in catalog.blobs.kept()} == {file.sha256 for file in kept.artifact.files}
        assert [found.problem for found in await verify(catalog, await catalog.artifacts(two))] == [None]
        assert (await collect(catalog, grace_s=-1)).blobs == 0


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda model: (model / "config.json").unlink(), "config.json: is not there"),
        (lambda model: (model / "config.json").write_text('{"model_type": "mamba"}'), '"mamba" is not known'),
        (lambda model: (model / "config.json").write_text("{"), "config.json: "),
        (lambda model: _config(model, num_hidden_layers=3), 'has no tensor "model.layers.2'),
        (lambda model: _config(model, intermediate_size=640), "gate_proj.weight"),
        (lambda model: _cut(model / "model.safetensors"), "the file was cut or altered"),
        (lambda model: (model / "model.safetensors").rename(model / "pytorch_model.bin"), "is a pickle"),
    ],
)
async def test_weights_that_are_wrong_are_no_version(tmp_path: Path, damage: object, words: str) -> None:
    model = tiny_model(tmp_path / "model")
    damage(model)  # type: ignore[operator]
    async with opened_catalog(tmp_path) as catalog:
        with pytest.raises(OperatorError, match=words):
            await imported(catalog, model)
        assert await catalog.versions() == ()


async def test_a_tokenizer_of_another_model_is_noticed_by_the_build(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    document = json.loads((model / "tokenizer.json").read_text())
    document["model"]["vocab"]["more"] = 5000
    (model / "tokenizer.json").write_text(json.dumps(document))
    async with opened_catalog(tmp_path) as catalog:
        version, _ = await imported(catalog, model)
        with pytest.raises(WeightsCorrupt, match='does not match the model: the token "more" is number 5000'):
            await built(catalog, version)


async def test_two_that_want_the_same_build_get_one(tmp_path: Path) -> None:
    async with opened_catalog(tmp_path) as catalog:
        version, _ = await imported(catalog, tiny_model(tmp_path / "model"))
        one, other = await asyncio.gather(built(catalog, version), built(catalog, version))
        assert one.artifact == other.artifact
        assert len(await catalog.artifacts(version)) == 2


def _config(model: Path, **members: object) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | members))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])
