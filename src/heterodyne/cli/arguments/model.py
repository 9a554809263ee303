"""What `--model` may be: a built-in name, a Hugging Face id we know, a `config.json` (or its folder), a GGUF file."""

from pathlib import Path
from typing import TYPE_CHECKING

from heterodyne.domain.errors import InvalidSpec

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
    return model_spec(word)


def _from_config(path: Path) -> "ModelSpec":
    import msgspec

    from heterodyne.physics.from_hf_config import from_hf_config

    try:
        config = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except OSError as error:
        raise InvalidSpec(f"{path}: cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise InvalidSpec(f"{path}: not a JSON object: {error}") from error
    return from_hf_config(config, name=path.resolve().parent.name)
