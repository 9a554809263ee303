"""Elements of HTML and SVG as text; whatever is not an element already is escaped."""

from collections.abc import Iterable
from html import escape

VOID = frozenset({"br", "meta"})  # elements that are never closed


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """One element. `class_` is `class`, `stroke_width` is `stroke-width`; an attribute that is None is left out."""
    given = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(children)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Several pieces one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escape(part) for part in parts))


def _text(value: str | float) -> str:
    """Coordinates to a tenth: finer is not seen, and the page stays small."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
