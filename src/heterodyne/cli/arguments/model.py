"""What `--model` may be: a built-in name, a Hugging Face id, a `config.json` (or its folder), a GGUF file."""

from pathlib import Path
from typing import TYPE_CHECKING

from heterodyne.cli.arguments.hub_cache import cached_config, hub_cache, is_hub_id
from heterodyne.domain.errors import InvalidSpec, UnknownName

if TYPE_CHECKING:
    from heterodyne.physics.model_spec import ModelSpec


def model_from(word: str) -> "ModelSpec":
    """The model an operator means; raises `UnknownName` or `InvalidSpec`."""
    from heterodyne.physics.model_shapes import model_spec

    path = Path(word).expanduser()
    if path.suffix.lower() == ".gguf":
        from heterodyne.registry.gguf.spec import spec_from_gguf

        return spec_from_gguf(path)
    if path.suffix.lower() == ".json":
        return _from_config(path)
    if (path / "config.json").is_file():
        return _from_config(path / "config.json")
    try:
        return model_spec(word)
    except UnknownName as error:
        if not is_hub_id(word):
            raise
        config = cached_config(word)
        if config is None:
            raise UnknownName(
                f"{error.message} It is not in the cache of Hugging Face at {hub_cache()} either, and plans fetch "
                f"nothing: `hf download {word} config.json` puts it there, or give the path of a config.json."
            ) from error
        return _from_config(config, name=word.rpartition("/")[2].lower())


def _from_config(path: Path, *, name: str | None = None) -> "ModelSpec":
    import msgspec

    from heterodyne.physics.from_hf_config import from_hf_config

    try:
        config = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except OSError as error:
        raise InvalidSpec(f"{path}: cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise InvalidSpec(f"{path}: not a JSON object: {error}") from error
    return from_hf_config(config, name=name or path.resolve().parent.name)
