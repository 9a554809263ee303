"""A folder without settings around every command, and a way to run one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from heterodyne.cli.main import cli

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `heterodyne WORDS…` in an empty folder, with no settings in the environment."""
    monkeypatch.chdir(tmp_path)
    environment = {"HOME": str(tmp_path), "HETERODYNE_CONFIG": None, "HETERODYNE_API_KEY": None}

    def invoke(*words: str, env: dict[str, str] | None = None, **options: object) -> Result:
        runner = CliRunner(env={**environment, **(env or {})})
        return runner.invoke(cli, list(words), prog_name="heterodyne", **options)  # type: ignore[arg-type]

    return invoke
