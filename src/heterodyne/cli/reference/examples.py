"""Keeps the sample output in guides true: every command of theirs that needs nothing but this package is run again."""

import re
import shlex

from click.testing import CliRunner

from heterodyne.cli.main import cli

GUIDES = ("choose-hardware.md", "plan-memory.md", "launch-an-engine.md")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ heterodyne ((?:plan|hardware) [^\n]*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
ELSEWHERE = (".csv.gz", ".jsonl.gz", ".toml", ".html", ".gguf", ".json", "--output-dir")  # needs or leaves a file
COLUMNS = "100"  # as wide as a guide is
CUT = "…\n"  # ends an output that the guide shows only the beginning of


def refreshed(guide: str) -> str:
    """The guide with the output its commands give now; one that needs or leaves a file keeps what it has."""
    return BLOCK.sub(lambda block: f"```console\n{COMMAND.sub(_run, block.group(1))}```", guide)


def _run(example: re.Match[str]) -> str:
    words, shown = shlex.split(example.group(1)), example.group(2)
    if shown.endswith(CUT) or any(word.endswith(ELSEWHERE) for word in words):
        return example.group()
    result = CliRunner(env={"COLUMNS": COLUMNS}).invoke(cli, words, prog_name="heterodyne")
    return f"$ heterodyne {example.group(1)}\n{result.output}"
