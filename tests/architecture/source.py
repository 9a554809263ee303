"""The source tree as the checks of this folder read it: files, modules and their imports, parsed once."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
PACKAGE = "heterodyne"


@cache
def files() -> tuple[Path, ...]:
    """Every Python file of the package, in the order of their paths."""
    return tuple(sorted((SRC / PACKAGE).rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def relative(path: Path) -> str:
    """A path as it is written in lists and messages: `gateway/exchange.py`."""
    return path.relative_to(SRC / PACKAGE).as_posix()


@cache
def modules() -> dict[str, Path]:
    """Dotted name to file; a package has the name of its folder."""
    found = {}
    for path in files():
        parts = path.relative_to(SRC).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str) -> Iterator[str]:
    """The modules of the package that one imports, `TYPE_CHECKING` blocks and function bodies included."""
    known = modules()
    for node in ast.walk(tree(known[name])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: a relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in known:
                    yield inner
                elif node.module in known:
                    yield node.module
