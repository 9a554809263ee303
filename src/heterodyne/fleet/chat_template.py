"""From the `chat_template` setting to Jinja text: a file, or one we ship as `builtin:NAME`."""

from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from heterodyne.domain.errors import SettingsInvalid

BUILTIN_PREFIX = "builtin:"
TOOL_CALL_OPENINGS = {"builtin:chatml_tools": "<tool_call>\n"}  # how our templates have a tool call begin


def read_chat_template(setting: str | None) -> str | None:
    """The template's text; None when the setting is absent and the weights bring their own."""
    if setting is None:
        return None
    if setting.startswith(BUILTIN_PREFIX):
        return _read_builtin(setting.removeprefix(BUILTIN_PREFIX))
    path = Path(setting).expanduser()
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"chat_template: cannot read {path}: {error}") from error


def builtin_names() -> tuple[str, ...]:
    """Names that may follow `builtin:`."""
    folder = files("heterodyne.fleet") / "templates"
    return tuple(
        sorted(entry.name.removesuffix(".jinja") for entry in folder.iterdir() if entry.name.endswith(".jinja"))
    )


def _read_builtin(name: str) -> str:
    names = builtin_names()
    if name not in names:
        near = get_close_matches(name, names, n=1, cutoff=0.0)[0]
        raise SettingsInvalid(
            f'chat_template: no template "{BUILTIN_PREFIX}{name}"; did you mean "{BUILTIN_PREFIX}{near}"?'
        )
    return (files("heterodyne.fleet") / "templates" / f"{name}.jinja").read_text(encoding="utf-8")
