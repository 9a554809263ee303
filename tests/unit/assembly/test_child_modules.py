"""Modules that are named and not imported exist all the same."""

from importlib.util import find_spec

import pytest

from heterodyne.assembly import child_modules


@pytest.mark.parametrize("name", [name for name in vars(child_modules) if name.isupper()])
def test_a_child_has_its_module(name: str) -> None:
    assert find_spec(getattr(child_modules, name)) is not None
