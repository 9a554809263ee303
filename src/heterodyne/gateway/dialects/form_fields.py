"""What every form that asks a model something has: the model, a file, and fields of which some are one engine's own."""

from typing import Final

from heterodyne.domain.errors import InvalidField
from heterodyne.engines.form_body import Form
from heterodyne.gateway.dialects.members import listed

MODEL_CHARS_MAX: Final = 256
BOOLEANS: Final = {"true": True, "false": False, "1": True, "0": False}


def read_fields(body: bytes, api: frozenset[str], *files: str) -> tuple[Form, str, tuple[str, ...]]:
    """The form, the model it names, and its fields that are no part of the API; one of `files` has to be in it."""
    form = Form(body)
    if not form.has_file(*files):
        raise InvalidField(f"{files[0]}: the form has no such file.", param=files[0])
    model = form.value("model")
    if not model or len(model) > MODEL_CHARS_MAX:
        raise InvalidField(
            f"model: a name of 1 to {MODEL_CHARS_MAX} characters is expected in the form.", param="model"
        )
    own = {part.name for part in form.parts if part.name.partition("[")[0] not in api}
    return form, model, listed(sorted(own))


def flag(form: Form, name: str) -> bool:
    """Whether a field says yes; no where it is not there."""
    value = form.value(name)
    if value is None:
        return False
    found = BOOLEANS.get(value.lower())
    if found is None:
        raise InvalidField(f"{name}: `true` or `false` is expected.", param=name)
    return found


def number(form: Form, name: str, *, default: int, most: int) -> int:
    """A whole number from 1 on."""
    value = form.value(name)
    if value is None:
        return default
    if not value.isascii() or not value.isdigit() or len(value) > 6 or not 1 <= int(value) <= most:
        raise InvalidField(f"{name}: a whole number from 1 to {most} is expected.", param=name)
    return int(value)
