"""Modules that are named and not imported exist all the same."""

from importlib.util import find_spec

import pytest

from heterodyne.assembly.console import PLAN_MODULE, REHEARSAL_MODULE
from heterodyne.assembly.fleet import WORKER_MODULE
from heterodyne.assembly.gateway import OFFLOAD_MODULE


@pytest.mark.parametrize("module", [WORKER_MODULE, PLAN_MODULE, REHEARSAL_MODULE, OFFLOAD_MODULE])
def test_a_child_has_its_module(module: str) -> None:
    assert find_spec(module) is not None
