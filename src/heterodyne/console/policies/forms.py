"""What an operator sends about kept answers."""

from msgspec import Struct

from heterodyne.domain.cache_drop import TAG
from heterodyne.domain.errors import InvalidField

NAME_MAX = 256


class DropForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Kept answers with all of these; `all`, where none is named."""

    tag: str = ""
    model: str = ""
    project: str = ""
    all: bool = False

    def __post_init__(self) -> None:
        is_named = bool(self.tag or self.model or self.project)
        if is_named == self.all:
            raise InvalidField("Name a tag, a model or a project, or say `all`, and not both.", param="all")
        if self.tag and not TAG.fullmatch(self.tag):
            raise InvalidField("tag: up to 64 visible characters without a comma are expected.", param="tag")
        for name in ("model", "project"):
            if len(getattr(self, name)) > NAME_MAX:
                raise InvalidField(f"{name}: up to {NAME_MAX} characters are expected.", param=name)

    def __str__(self) -> str:
        named = [f"{name} {value}" for name in ("tag", "model", "project") if (value := getattr(self, name))]
        return ", ".join(named) or "everything"
