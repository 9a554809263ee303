"""`serve` turns its flags into settings and ends with the exit code of what it started."""

import sys
from types import ModuleType

import pytest

from heterodyne.config.settings import Settings


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings `serve` was called with; the real one would start processes."""
    seen: list[Settings] = []
    module = ModuleType("heterodyne.assembly.serve")
    module.serve = lambda settings, reread, progress: seen.append(settings) or 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "heterodyne.assembly.serve", module)
    return seen


def test_flags_of_serve_go_over_set(run, served: list[Settings]) -> None:
    result = run("--set", "gateway.port=1", "--set", "gateway.workers=2", "serve", "--port", "9000", "--host", "::1")
    assert result.exit_code == 7
    (settings,) = served
    assert (settings.gateway.port, settings.gateway.workers, settings.gateway.host) == (9000, 2, "::1")


def test_an_open_door_without_keys_does_not_start(run, served: list[Settings]) -> None:
    result = run("serve", "--host", "0.0.0.0")
    assert result.exit_code == 2
    assert "admission.api_keys_sha256" in result.stderr
    assert served == []


def test_a_port_out_of_range_is_wrong_usage(run, served: list[Settings]) -> None:
    assert run("serve", "--port", "70000").exit_code == 2
    assert served == []
