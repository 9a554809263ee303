"""What `pip install heterodyne` brings along: few packages, so that a gateway is small to ship and to audit."""

import importlib.metadata
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
PACKAGES_MAX = 35  # this one included


def test_the_base_install_is_at_most_35_packages() -> None:
    packages = base_install()
    assert {"heterodyne", "numpy", "starlette"} <= packages
    assert len(packages) <= PACKAGES_MAX, f"{len(packages)}: {', '.join(sorted(packages))}"


def test_no_package_for_notebooks_comes_along() -> None:
    assert base_install().isdisjoint({"ipython", "jedi", "matplotlib-inline", "uplot-python", "jupyter-core"})


def base_install() -> set[str]:
    """Everything that `pyproject.toml` requires without an extra, and what that requires, here and now."""
    found = {"heterodyne"}
    wanted = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    while wanted:
        requirement = Requirement(wanted.pop())
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        wanted += importlib.metadata.requires(name) or ()
    return found
