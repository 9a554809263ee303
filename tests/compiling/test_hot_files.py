"""The list of hot files, and what may stand in them."""

import ast

from compiling.build import SOURCE, hot_files

PACKAGE = SOURCE / "heterodyne"
STRUCTS = frozenset({"Struct", "NamedTuple"})  # and what is derived from one in the same file


def test_every_hot_file_is_there_and_named_once() -> None:
    files = hot_files()
    assert list(files) == sorted(set(files))
    assert [file for file in files if not (PACKAGE / file).is_file()] == []


def test_no_hot_file_defines_a_struct_for_a_compiled_one_would_not_be_frozen() -> None:
    found = {file: structs for file in hot_files() if (structs := _structs(file))}
    assert found == {}


def test_what_is_not_compiled_inherits_from_nothing_that_is() -> None:
    """mypyc refuses to make such an object, on a compiled installation alone."""
    hot = {f"heterodyne.{file.removesuffix('.py').replace('/', '.')}" for file in hot_files()}
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        if file in hot_files():
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in hot]
        compiled = {alias.asname or alias.name for node in imports for alias in node.names}
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        found += [f"{file}: {one.name}" for one in classes if compiled & {_name(base) for base in one.bases}]
    assert found == []


def _structs(file: str) -> list[str]:
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return [one.name for one in classes if one.keywords or {_name(base) for base in one.bases} & STRUCTS]


def _name(base: ast.expr) -> str:
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
