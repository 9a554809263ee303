"""One public class name stands for one thing."""

import ast
from collections import defaultdict

from tests.architecture import source


def homes() -> dict[str, list[str]]:
    """Public class name to the files that define it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in source.files():
        for node in ast.walk(source.tree(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(source.relative(path))
    return found


def test_no_public_class_name_is_defined_twice() -> None:
    assert {name: files for name, files in homes().items() if len(files) > 1} == {}
