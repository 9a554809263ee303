"""How long functions and files may be, and which are longer."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture import source

FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 350

# Tables, one declaration after another: they are looked up and not read.
TABLES = frozenset(
    {
        "telemetry/metrics.py",  # every metric of the gateway, in the order of the reference page
    }
)


def long_files() -> dict[str, int]:
    """File to lines, of those over the limit."""
    lengths = {source.relative(path): _lines(path) for path in source.files()}
    return {name: lines for name, lines in lengths.items() if lines > FILE_LINES_MAX and name not in TABLES}


def long_functions() -> dict[str, int]:
    """`file:function` to lines, of those over the limit; decorators, a command's table of options, do not count."""
    found: dict[str, int] = {}
    for path in source.files():
        if (name := source.relative(path)) not in TABLES:
            found |= {f"{name}:{qualified}": lines for qualified, lines in _functions(source.tree(path))}
    return {name: lines for name, lines in found.items() if lines > FUNCTION_LINES_MAX}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = prefix + child.name
            if not isinstance(child, ast.ClassDef):
                assert child.end_lineno is not None
                yield name, child.end_lineno - child.lineno + 1
            yield from _functions(child, f"{name}.")
        else:
            yield from _functions(child, prefix)
